import Glibc

extension Spool {
    /// Appends lines to the ledger and forces them to the disk.
    func appendToLedger(_ entries: [LedgerEntry]) throws(FileError) {
        guard let stateDirectory else { throw FileError("write ledger of", path, code: EROFS) }
        var day = ""
        var lines: [UInt8] = []
        for entry in entries {
            let entryDay = entry.at.compactDay
            if entryDay != day, !lines.isEmpty {
                try stateDirectory.appendLines(lines, to: Self.ledgerName(day))
                lines = []
            }
            day = entryDay
            lines += entry.line
        }
        if !lines.isEmpty { try stateDirectory.appendLines(lines, to: Self.ledgerName(day)) }
    }

    private static func ledgerName(_ day: String) -> String { "ledger-\(day).jsonl" }

    /// The ledger's files, oldest first.
    func ledgerFiles() throws(FileError) -> [OpenFile] {
        guard let stateDirectory else { return [] }
        var files: [OpenFile] = []
        for name in try stateDirectory.names() where name.hasPrefix("ledger-") && name.hasSuffix(".jsonl") {
            if let file = try stateDirectory.open(name) { files.append(file) }
        }
        return files
    }
}

extension Directory {
    /// Appends whole lines to a log and forces them to the disk.
    func appendLines(_ lines: [UInt8], to name: String) throws(FileError) {
        let file = try open(name, flags: O_RDWR | O_CREAT | O_APPEND)
        // Several uploaders share a ledger: one that looks while another writes would see a line without its end.
        file.lock()
        let size = try file.status().size.bytes
        // A process that was killed, or a full disk, may have left a line without its end.
        let last = size > 0 ? try file.readBytes(1, at: size - 1) : []
        try file.write(last.isEmpty || last == [UInt8(ascii: "\n")] ? lines : [UInt8(ascii: "\n")] + lines)
        file.unlock()
        try file.sync()
    }
}
