extension OpenFile {
    /// Copies the events that can still be read, up to the first damage or the first line that is no JSON, into a new member.
    ///
    /// - Returns: How many events were saved.
    func salvage(into target: OpenFile, limit: ByteCount) throws(FileError) -> Int64 {
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

/// The first line that is no JSON: what follows corrupt data is not to be trusted.
private struct SalvageEnd: Error {}

/// Passes on whole lines that are JSON, and keeps the unfinished one back.
private struct LineSalvage: ~Copyable {
    private var writer: GzipWriter
    private var checker = JSONLineChecker()
    private var rest: [UInt8] = []
    private var events: Int64 = 0

    init(target: OpenFile) throws(FileError) { writer = try GzipWriter(file: target, level: .standard) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        rest += bytes
        while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try add(line: rest[...newline])
            rest.removeSubrange(...newline)
        }
    }

    /// A sound file may lack its last line feed; a damaged one ends anywhere, and only JSON that is complete counts.
    mutating func endLastLine() throws {
        if !rest.isEmpty { try add(line: (rest + [UInt8(ascii: "\n")])[...]) }
    }

    private mutating func add(line: ArraySlice<UInt8>) throws {
        let verdict = line.dropLast().withUnsafeBufferPointer { checker.check($0) }
        switch verdict {
        case .blank: return
        case .invalid: throw SalvageEnd()
        case .event: break
        }
        let copy = Array(line)
        try copy.withUnsafeBytes { try writer.write($0, events: 1) }
        events += 1
    }

    consuming func finish() throws(FileError) -> Int64 {
        try writer.finish()
        return events
    }
}
