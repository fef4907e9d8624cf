extension OpenFile {
    /// Copies the events that can be trusted into new members, up to the first damage or the first line that is no JSON. Lines longer than
    /// ``LineSalvage/longestLine`` are left out.
    ///
    /// To be trusted are gzip members whose checksum is right, and the whole lines of a last one that is cut off. What a corrupt member inflates to
    /// may be altered anywhere, without a sign of it.
    ///
    /// - Parameter takesUnverified: Copy what comes from a corrupt member too.
    func salvage(into target: OpenFile, limit: ByteCount, takesUnverified: Bool = false) throws(FileError) -> Salvaged {
        let (trusted, isWhole) = try trusted(limit: limit)
        var salvage = try LineSalvage(target: target, trusted: trusted, takesUnverified: takesUnverified)
        var isSound = true
        do {
            do { try inflate(limit: limit, strictly: true) { try salvage.add($0) } } catch is GzipDamage { isSound = false }
            if isWhole { try salvage.endLastLine() }
        } catch is SalvageEnd {
            // What came before it is what can be saved.
            isSound = false
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("salvaging reads gzip and writes a file: \(error)")
        }
        var saved = try salvage.finish()
        saved.isSound = isSound && saved.tooLong == 0
        return saved
    }

    /// Returns how many inflated bytes can be trusted, and whether the last member of the file is whole.
    private func trusted(limit: ByteCount) throws(FileError) -> (bytes: Int64, isWhole: Bool) {
        let size = try status().size.bytes
        var reader = GzipReader(limit: limit, strictly: true)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        var (offset, produced): (Int64, Int64) = (0, 0)
        do {
            while true {
                let count = try read(into: buffer, at: offset)
                if count == 0 { break }
                try reader.feed(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { produced += Int64($0.count) }
                offset += Int64(count)
            }
            try reader.finish { produced += Int64($0.count) }
            return (produced, true)
        } catch let damage as GzipDamage {
            switch damage.kind {
            case .trailingGarbage: return (reader.soundProduced, true)
            case .tooLarge: return (produced, false)
            case .truncated where try !endsAsMember(of: produced - reader.soundProduced, size: size): return (produced, false)
            case .truncated, .corrupt, .notGzip, .empty: return (reader.soundProduced, false)
            }
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("counting bytes throws nothing: \(error)")
        }
    }

    /// Whether a file ends with the length of a member that inflates to about so much: then it is not cut off, but damage keeps the member's
    /// end from being seen. By chance the last four bytes look so in one of 30,000 files.
    private func endsAsMember(of length: Int64, size: Int64) throws(FileError) -> Bool {
        let last = try readBytes(4, at: max(0, size - 4))
        guard last.count == 4 else { return false }
        let told = last.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let difference = Int32(bitPattern: UInt32(truncatingIfNeeded: length) &- told)
        return difference.magnitude <= 1 << 16
    }
}

/// What salvaging a file saved.
struct Salvaged: Equatable {
    var events: Int64 = 0
    /// How many events there are before the first line that is left out.
    var unbroken: Int64 = 0
    /// Lines that are longer than any event may be.
    var tooLong: Int64 = 0
    /// Whole lines of a member whose checksum is wrong, taken or not.
    var unverified: Int64 = 0
    /// There is no damage in it: every line is saved.
    var isSound = false
}

/// The first line that is no JSON: what follows corrupt data is not to be trusted.
private struct SalvageEnd: Error {}

/// Passes on whole lines that are JSON, and keeps the unfinished one back.
private struct LineSalvage: ~Copyable {
    /// As long as `ferry write` takes them.
    static let longestLine = 1 << 20
    private static let lineFeed = [UInt8(ascii: "\n")]

    private var writer: GzipWriter
    private var checker = JSONLineChecker()
    /// The start of the unfinished line.
    private var rest: [UInt8] = []
    /// The unfinished line is longer than any event may be, and is not kept.
    private var isTooLong = false
    private var saved = Salvaged()
    /// A line was left out.
    private var isBroken = false
    /// How many of the bytes that follow can be trusted.
    private var trusted: Int64
    private let takesUnverified: Bool

    init(target: OpenFile, trusted: Int64, takesUnverified: Bool) throws(FileError) {
        writer = try GzipWriter(file: target, level: .standard)
        self.trusted = trusted
        self.takesUnverified = takesUnverified
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        var bytes = UnsafeBufferPointer(start: bytes.bindMemory(to: UInt8.self).baseAddress, count: bytes.count)
        defer { trusted -= Int64(bytes.count) }
        while let end = bytes.firstNewline {
            let piece = UnsafeBufferPointer(rebasing: bytes[..<end])
            // With its line feed.
            trusted -= Int64(end + 1)
            if rest.isEmpty, !isTooLong, piece.count <= Self.longestLine {
                try add(line: piece)
            } else {
                keep(piece)
                try endLine()
            }
            bytes = UnsafeBufferPointer(rebasing: bytes[(end + 1)...])
        }
        keep(bytes)
    }

    /// A sound file may lack its last line feed; a damaged one ends anywhere, and only JSON that is complete counts.
    mutating func endLastLine() throws { if isTooLong || !rest.isEmpty { try endLine() } }

    private mutating func keep(_ piece: UnsafeBufferPointer<UInt8>) {
        if isTooLong || piece.count > Self.longestLine - rest.count {
            isTooLong = true
            rest.removeAll(keepingCapacity: true)
        } else {
            rest += piece
        }
    }

    private mutating func endLine() throws {
        let line = rest
        rest.removeAll(keepingCapacity: true)
        if isTooLong {
            isTooLong = false
            saved.tooLong += 1
            isBroken = true
        } else {
            try line.withUnsafeBufferPointer { try add(line: $0) }
        }
    }

    private mutating func add(line: UnsafeBufferPointer<UInt8>) throws {
        switch checker.check(line) {
        case .blank:
            isBroken = true
            return
        case .invalid: throw SalvageEnd()
        case .event: break
        }
        // It ends behind what can be trusted.
        if trusted < 0 {
            saved.unverified += 1
            guard takesUnverified else {
                isBroken = true
                return
            }
        }
        try writer.write(UnsafeRawBufferPointer(line))
        try Self.lineFeed.withUnsafeBytes { try writer.write($0) }
        saved.events += 1
        if !isBroken { saved.unbroken = saved.events }
    }

    consuming func finish() throws(FileError) -> Salvaged {
        try writer.finish()
        return saved
    }
}
