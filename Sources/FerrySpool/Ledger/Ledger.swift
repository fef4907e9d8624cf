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
                try append(lines, of: day, in: stateDirectory)
                lines = []
            }
            day = entryDay
            lines += entry.line
        }
        if !lines.isEmpty { try append(lines, of: day, in: stateDirectory) }
    }

    /// Appends lines to the ledger of a day. On a full disk a file takes more room than a line: XFS wants some 20 free blocks to make one. The last
    /// ledger that is there takes the lines of a day that can have none, or has an empty one.
    private func append(_ lines: [UInt8], of day: String, in stateDirectory: Directory) throws(FileError) {
        do throws(FileError) {
            try stateDirectory.appendLines(lines, to: Self.ledgerName(day), cutsTorn: true)
        } catch {
            guard error.isDiskFull, let last = try nameOfLedger(day: day), last != Self.ledgerName(day) else { throw error }
            try stateDirectory.appendLines(lines, to: last, cutsTorn: true)
        }
    }

    /// Sees whether lines can be appended to the ledger: what cannot be written down must not be sent.
    func probeLedger(at now: Timestamp) throws(FileError) {
        guard let stateDirectory, try stateDirectory.contains(Self.ledgerName(now.compactDay)) else { return }
        let file = try stateDirectory.openLog(Self.ledgerName(now.compactDay))
        if case .refused(let error) = file.tryLocking() { throw error }
        guard try file.status().size.bytes.adding(Reserve.block) <= Reserve.largestFile else {
            throw FileError("write ledger", file.path, code: EFBIG)
        }
    }

    /// Returns the ledger that takes the lines of a day, on a full disk as well; `nil` when there is none.
    func nameOfLedger(at now: Timestamp) throws(FileError) -> String? { try nameOfLedger(day: now.compactDay) }

    private func nameOfLedger(day: String) throws(FileError) -> String? {
        let today = Self.ledgerName(day)
        let status = try stateDirectory?.status(today)
        if let status, status.size > .zero { return today }
        return try ledgerNames().filter { $0 != today }.max() ?? (status == nil ? nil : today)
    }

    /// Makes the day's ledger, where there is none that could take its lines.
    func makeFirstLedger(at now: Timestamp) throws(FileError) { if try ledgerNames().isEmpty { try makeLedger(at: now) } }

    /// Makes an empty ledger for what is sent when there may be no room for a file, where there is none.
    static func makeFirstLedger(in state: Directory) {
        guard let names = try? state.names(), !names.contains(where: { $0.hasPrefix("ledger-") }) else { return }
        _ = try? state.openLog(ledgerName(Timestamp.now().compactDay))
    }

    /// Makes the day's ledger, where it is not there yet.
    func makeLedger(at now: Timestamp) throws(FileError) {
        guard let stateDirectory else { throw FileError("write ledger of", path, code: EROFS) }
        _ = try stateDirectory.openLog(Self.ledgerName(now.compactDay))
    }

    static func ledgerName(_ day: String) -> String { "ledger-\(day).jsonl" }

    /// Returns the names of the ledger's files, oldest first.
    func ledgerNames() throws(FileError) -> [String] {
        try stateDirectory?.names().filter { $0.hasPrefix("ledger-") && $0.hasSuffix(".jsonl") } ?? []
    }
}
