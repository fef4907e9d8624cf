import CLinux
import Glibc

/// How many segments had which ending, and how many bytes they were.
public struct LedgerTotals: Equatable, Sendable {
    public struct Count: Equatable, Sendable {
        public var segments: Int64 = 0
        public var bytes = ByteCount.zero

        public init() {}
    }

    public private(set) var counts: [LedgerEntry.Outcome: Count] = [:]

    public subscript(outcome: LedgerEntry.Outcome) -> Count { counts[outcome] ?? Count() }

    /// Adds a line of the ledger. What is no such line is passed over: a torn line was repeated whole.
    ///
    /// It looks only for the two fields that it needs, in the form that ``LedgerEntry`` writes: a ledger of a year is long.
    mutating func add(_ line: UnsafeBufferPointer<UInt8>) {
        guard let outcomeStart = line.end(of: "\"outcome\":\""), let bytesStart = line.end(of: "\"bytes\":"),
            let outcomeEnd = line[outcomeStart...].firstIndex(of: UInt8(ascii: "\"")),
            let outcome = LedgerEntry.Outcome(rawValue: String(decoding: line[outcomeStart..<outcomeEnd], as: UTF8.self))
        else { return }
        var bytes: Int64 = 0
        for byte in line[bytesStart...].prefix(18) {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            bytes = bytes * 10 + Int64(digit)
        }
        counts[outcome, default: Count()].segments += 1
        counts[outcome, default: Count()].bytes += ByteCount(bytes)
    }
}

extension Spool {
    /// Adds up the whole ledger.
    public func ledgerTotals() throws(FileError) -> LedgerTotals {
        var failure: FileError?
        let totals = ledgerTotals { failure = failure ?? $0 }
        if let failure { throw failure }
        return totals
    }

    /// Adds up what of the ledger can be read.
    ///
    /// - Parameter note: Called with each file that cannot.
    public func ledgerTotals(note: (FileError) -> Void) -> LedgerTotals {
        var totals = LedgerTotals()
        do throws(FileError) {
            for name in try ledgerNames() {
                do throws(FileError) { try stateDirectory?.open(name)?.forEachLine { totals.add($0) } } catch { note(error) }
            }
        } catch {
            note(error)
        }
        return totals
    }

    /// Whether the ledger has a line of a segment whose name has the form of the format.
    func hasEnded(_ name: String) throws(FileError) -> Bool { try hasLine(with: "\"segment\":\"\(name)\"") }

    /// Whether a segment was sent, or a half of it.
    func hasSentEvents(of segment: SegmentName) throws(FileError) -> Bool {
        let id = Array("-\(segment.id)".utf8)
        return try !segments { line in
            guard let start = line.baseAddress, memmem(start, line.count, id, id.count) != nil,
                line.end(of: "\"outcome\":\"sent\"") != nil
            else { return false }
            return line.text(after: "\"segment\":\"").flatMap { SegmentName($0) }?.mayHoldEvents(of: segment) ?? false
        }.isEmpty
    }

    private func hasLine(with text: String) throws(FileError) -> Bool {
        let text = Array(text.utf8)
        var isFound = false
        for ledger in try ledgerNames() where !isFound {
            try stateDirectory?.open(ledger)?.forEachLine { line in
                guard !isFound, let start = line.baseAddress else { return }
                isFound = memmem(start, line.count, text, text.count) != nil
            }
        }
        return isFound
    }

    /// Whether what a segment may be a half of was sent to a server that is no receiver of Ferry's: such a one does not know halves.
    func hasSentAway(wholeOf half: SegmentName) throws(FileError) -> Bool {
        let ids = Set(SegmentID.ancestors(of: half.id).map(\.text))
        return try !segments { line in
            guard line.end(of: "\"outcome\":\"sent\"") != nil, line.end(of: "\"receiver\":\"\"") != nil,
                let segment = line.text(after: "\"segment\":\"").flatMap({ SegmentName($0) })
            else { return false }
            return ids.contains(segment.id) && half.isNear(segment)
        }.isEmpty
    }

    /// The names of the segments that a spool took: by hand, as its receipts told, or over HTTP, as its answers did.
    public func segmentsReceived(by hub: String) throws(FileError) -> Set<String> {
        let marks = [LedgerEntry.received(by: hub), "\"receiver\":\(hub.jsonQuoted)"].map { Array($0.utf8) }
        return try segments { line in
            guard let start = line.baseAddress else { return false }
            return marks.contains { memmem(start, line.count, $0, $0.count) != nil }
        }
    }

    /// The names of all segments that the ledger has a line of; those of the format, which need no escapes.
    public func endedSegments() throws(FileError) -> Set<String> { try segments { _ in true } }

    /// The names of the segments that the ledger has a line of with one of these outcomes.
    public func segments(thatWere outcomes: Set<LedgerEntry.Outcome>) throws(FileError) -> Set<String> {
        try segments { line in
            line.text(after: "\"outcome\":\"").flatMap { LedgerEntry.Outcome(rawValue: $0) }.map(outcomes.contains) ?? false
        }
    }

    private func segments(where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) throws(FileError) -> Set<String> {
        var names: Set<String> = []
        for name in try ledgerNames() {
            try stateDirectory?.open(name)?.forEachLine { line in
                guard isWanted(line), let start = line.end(of: "\"segment\":\""),
                    let end = line[start...].firstIndex(of: UInt8(ascii: "\""))
                else { return }
                names.insert(String(decoding: line[start..<end], as: UTF8.self))
            }
        }
        return names
    }
}

extension LedgerEntry {
    /// What the ledger says of a segment that a hub's receipt vouches for.
    public static func received(by hub: String) -> String { "received by the spool \(hub) at " }
}

extension OpenFile {
    /// The lines without their line feeds, in constant memory; a line longer than 1 MiB comes in pieces.
    ///
    /// - Parameter start: Where the first line begins.
    public func forEachLine(
        from start: Int64 = 0, _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) throws(FileError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var kept = 0
        var offset = start
        while true {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[kept...]), at: offset)
            offset += Int64(count)
            var rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: kept + count)
            while let newline = rest.firstNewline {
                body(UnsafeBufferPointer(rebasing: rest[..<newline]))
                rest = UnsafeBufferPointer(rebasing: rest[(newline + 1)...])
            }
            if count == 0 || rest.count == buffer.count {
                if !rest.isEmpty { body(rest) }
                if count == 0 { return }
                kept = 0
            } else {
                kept = rest.count
                // Parts of the buffer above, also when they are empty: their address is never nil.
                memmove(buffer.baseAddress!, rest.baseAddress!, kept)
            }
        }
    }
}

extension OpenFile {
    /// Reads lines, and where in the file each begins. Lines longer than 1 MiB are passed over.
    ///
    /// - Parameters:
    ///   - start: Where a line begins.
    ///   - end: No line that begins here or later is read.
    /// - Returns: The end of the last whole line: where the next one begins. A last line without its end is read, and begins there.
    @discardableResult
    package func forEachPlacedLine(
        from start: Int64 = 0, before end: Int64 = .max, _ body: (UnsafeBufferPointer<UInt8>, Int64) -> Void
    ) throws(FileError) -> Int64 {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        // Of the line that the buffer begins with, or begins in the midst of where it is too long.
        var lineStart = start
        var isTooLong = false
        var (kept, offset) = (0, start)
        while true {
            let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[kept...]), at: offset)
            if count == 0 {
                let rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: kept)
                if !rest.isEmpty, lineStart < end { body(rest, lineStart) }
                return lineStart
            }
            offset += Int64(count)
            var rest = UnsafeBufferPointer(start: buffer.bindMemory(to: UInt8.self).baseAddress, count: kept + count)
            while let newline = rest.firstNewline {
                guard lineStart < end else { return lineStart }
                if !isTooLong { body(UnsafeBufferPointer(rebasing: rest[..<newline]), lineStart) }
                isTooLong = false
                rest = UnsafeBufferPointer(rebasing: rest[(newline + 1)...])
                lineStart = offset - Int64(rest.count)
            }
            guard lineStart < end else { return lineStart }
            if rest.count == buffer.count { (isTooLong, rest) = (true, UnsafeBufferPointer(rebasing: rest[..<0])) }
            kept = rest.count
            // Parts of the buffer above, also when they are empty: their address is never nil.
            memmove(buffer.baseAddress!, rest.baseAddress!, kept)
        }
    }

    /// The line that begins at an offset, without its end; `nil` where the file has none of up to 1 MiB there.
    package func line(at offset: Int64) throws(FileError) -> [UInt8]? {
        var count = 1024
        while count <= 1 << 20 {
            let bytes = try readBytes(count, at: offset)
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return Array(bytes[..<end]) }
            guard bytes.count == count else { return nil }
            count *= 4
        }
        return nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The index behind the first occurrence of `text`.
    package func end(of text: StaticString) -> Int? {
        guard let baseAddress, let found = memmem(baseAddress, count, text.utf8Start, text.utf8CodeUnitCount) else { return nil }
        return UnsafeRawPointer(found) - UnsafeRawPointer(baseAddress) + text.utf8CodeUnitCount
    }
}
