extension OpenFile {
    /// Copies the events that can still be read, up to the first damage or the first line that is no JSON, into a new member. Lines longer
    /// than ``LineSalvage/longestLine`` are left out.
    func salvage(into target: OpenFile, limit: ByteCount) throws(FileError) -> Salvaged {
        var salvage = try LineSalvage(target: target)
        do {
            try inflate(limit: limit) { try salvage.add($0) }
            try salvage.endLastLine()
        } catch is GzipDamage, is SalvageEnd {
            // What came before it is what can be saved.
        } catch let error as FileError {
            throw error
        } catch {
            preconditionFailure("salvaging reads gzip and writes a file: \(error)")
        }
        return try salvage.finish()
    }
}

/// What salvaging a file saved.
struct Salvaged: Equatable {
    var events: Int64 = 0
    /// Lines that are longer than any event may be.
    var tooLong: Int64 = 0
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

    init(target: OpenFile) throws(FileError) { writer = try GzipWriter(file: target, level: .standard) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        var bytes = UnsafeBufferPointer(start: bytes.bindMemory(to: UInt8.self).baseAddress, count: bytes.count)
        while let end = bytes.firstNewline {
            let piece = UnsafeBufferPointer(rebasing: bytes[..<end])
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
        } else {
            try line.withUnsafeBufferPointer { try add(line: $0) }
        }
    }

    private mutating func add(line: UnsafeBufferPointer<UInt8>) throws {
        switch checker.check(line) {
        case .blank: return
        case .invalid: throw SalvageEnd()
        case .event: break
        }
        try writer.write(UnsafeRawBufferPointer(line), events: 0)
        try Self.lineFeed.withUnsafeBytes { try writer.write($0, events: 1) }
        saved.events += 1
    }

    consuming func finish() throws(FileError) -> Salvaged {
        try writer.finish()
        return saved
    }
}
