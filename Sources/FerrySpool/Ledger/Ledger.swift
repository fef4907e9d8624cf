import Glibc

/// What became of every segment: the files `.ferry/ledger-YYYYMMDD.jsonl`.
public struct Ledger: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Appends lines to the ledger and forces them to the disk.
    func append(_ entries: [LedgerEntry]) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else { throw FileError("write ledger of", spool.path, code: EROFS) }
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
            try stateDirectory.appendLines(lines, to: Self.name(day), cutsTorn: true)
        } catch {
            guard error.isDiskFull, let last = try name(day: day), last != Self.name(day) else { throw error }
            try stateDirectory.appendLines(lines, to: last, cutsTorn: true)
        }
    }

    /// Sees whether lines can be appended to the ledger: what cannot be written down must not be sent.
    func probe(at now: Timestamp) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory, try stateDirectory.contains(Self.name(now.compactDay)) else { return }
        let file = try stateDirectory.openLog(Self.name(now.compactDay))
        if case .refused(let error) = file.tryLocking() { throw error }
        guard try file.status().size.bytes.adding(Reserve.block) <= Reserve.largestFile else {
            throw FileError("write ledger", file.path, code: EFBIG)
        }
    }

    /// Returns the ledger that takes the lines of a day, on a full disk as well; `nil` when there is none.
    func name(at now: Timestamp) throws(FileError) -> String? { try name(day: now.compactDay) }

    private func name(day: String) throws(FileError) -> String? {
        let today = Self.name(day)
        let status = try spool.stateDirectory?.status(today)
        if let status, status.size > .zero { return today }
        return try names().filter { $0 != today }.max() ?? (status == nil ? nil : today)
    }

    /// Makes the day's ledger, where there is none that could take its lines.
    func makeFirst(at now: Timestamp) throws(FileError) { if try names().isEmpty { try make(at: now) } }

    /// Makes an empty ledger for what is sent when there may be no room for a file, where there is none.
    static func makeFirst(in state: Directory) {
        guard let names = try? state.names(), !names.contains(where: { $0.hasPrefix("ledger-") }) else { return }
        _ = try? state.openLog(name(Timestamp.now().compactDay))
    }

    /// Makes the day's ledger, where it is not there yet.
    func make(at now: Timestamp) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else { throw FileError("write ledger of", spool.path, code: EROFS) }
        _ = try stateDirectory.openLog(Self.name(now.compactDay))
    }

    static func name(_ day: String) -> String { "ledger-\(day).jsonl" }

    /// Returns the names of the ledger's files, oldest first.
    func names() throws(FileError) -> [String] {
        try spool.stateDirectory?.names().filter { $0.hasPrefix("ledger-") && $0.hasSuffix(".jsonl") } ?? []
    }
}

extension Spool {
    /// What became of every segment.
    public var ledger: Ledger { Ledger(spool: self) }
}
