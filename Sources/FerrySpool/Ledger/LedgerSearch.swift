import CLinux
import Glibc

extension Ledger {
    /// Returns whether the ledger has a line of a segment whose name has the form of the format.
    func hasEnded(_ name: String) throws(FileError) -> Bool { try hasLine(with: "\"segment\":\"\(name)\"") }

    /// Returns whether a segment was sent, or a half of it.
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
        for ledger in try names() where !isFound {
            try spool.stateDirectory?.open(ledger)?.forEachLine { line in
                guard !isFound, let start = line.baseAddress else { return }
                isFound = memmem(start, line.count, text, text.count) != nil
            }
        }
        return isFound
    }

    /// Returns whether what a segment may be a half of was sent to a server that is no receiver of Ferry's: such a one does not know halves.
    func hasSentAway(wholeOf half: SegmentName) throws(FileError) -> Bool {
        let ids = Set(SegmentID.ancestors(of: half.id).map(\.text))
        return try !segments { line in
            guard line.end(of: "\"outcome\":\"sent\"") != nil, line.end(of: "\"receiver\":\"\"") != nil,
                let segment = line.text(after: "\"segment\":\"").flatMap({ SegmentName($0) })
            else { return false }
            return ids.contains(segment.id) && half.isNear(segment)
        }.isEmpty
    }

    /// Returns the names of the segments that a spool took: by hand, as its receipts say, or over HTTP, as its answers say.
    package func segmentsReceived(by hub: String) throws(FileError) -> Set<String> {
        let marks = [LedgerEntry.received(by: hub), "\"receiver\":\(hub.jsonQuoted)"].map { Array($0.utf8) }
        return try segments { line in
            guard let start = line.baseAddress else { return false }
            return marks.contains { memmem(start, line.count, $0, $0.count) != nil }
        }
    }

    /// Returns the names of all segments that the ledger has a line of; those of the format, which need no escapes.
    package func endedSegments() throws(FileError) -> Set<String> { try segments { _ in true } }

    /// Returns the names of the segments that the ledger has a line of with one of these outcomes.
    public func segments(thatWere outcomes: Set<LedgerEntry.Outcome>) throws(FileError) -> Set<String> {
        try segments { line in
            line.text(after: "\"outcome\":\"").flatMap { LedgerEntry.Outcome(rawValue: $0) }.map(outcomes.contains) ?? false
        }
    }

    private func segments(where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) throws(FileError) -> Set<String> {
        var names: Set<String> = []
        for name in try self.names() {
            try spool.stateDirectory?.open(name)?.forEachLine { line in
                guard isWanted(line), let start = line.end(of: "\"segment\":\""),
                    let end = line[start...].firstIndex(of: UInt8(ascii: "\""))
                else { return }
                names.insert(String(decoding: line[start..<end], as: UTF8.self))
            }
        }
        return names
    }
}

extension Ledger {
    /// Returns when the ledger last has each of the segments as delivered.
    ///
    /// - Parameters:
    ///   - names: In the form of the format.
    ///   - moment: Lines of days before it are not read.
    func lastSent(of names: Set<String>, since moment: Timestamp) throws(FileError) -> [String: Timestamp] {
        guard let stateDirectory = spool.stateDirectory else { return [:] }
        let (all, day) = (try self.names().sorted(), Self.name(moment.compactDay))
        // A day that could have no ledger has its lines in the last one before it.
        let first = all.last { $0 < day } ?? day
        var (places, sent) = (LogPlaces(), [String: Timestamp]())
        for name in all where name >= first {
            try places.forEachNewLine(of: name, in: stateDirectory) { line in
                guard line.end(of: "\"outcome\":\"sent\"") != nil, let segment = line.text(after: "\"segment\":\""),
                    names.contains(segment), let at = line.text(after: "\"at\":\"").flatMap({ Timestamp(rfc3339: $0) })
                else { return }
                sent[segment] = max(sent[segment] ?? at, at)
            }
        }
        return sent
    }
}
