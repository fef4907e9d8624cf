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

    /// On a full disk a file takes more room than a line: XFS wants some 20 free blocks to make one. The last ledger that is there takes the lines of
    /// a day that can have none, or has an empty one.
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

    /// The ledger that takes the lines of a day, on a full disk as well; `nil` when there is none.
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

    /// When the ledger has segments as delivered last.
    ///
    /// - Parameters:
    ///   - names: In the form of the format.
    ///   - moment: Lines of days before it are not read.
    func lastSent(of names: Set<String>, since moment: Timestamp) throws(FileError) -> [String: Timestamp] {
        guard let stateDirectory else { return [:] }
        let (all, day) = (try ledgerNames().sorted(), Self.ledgerName(moment.compactDay))
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

    static func ledgerName(_ day: String) -> String { "ledger-\(day).jsonl" }

    /// The names of the ledger's files, oldest first.
    func ledgerNames() throws(FileError) -> [String] {
        try stateDirectory?.names().filter { $0.hasPrefix("ledger-") && $0.hasSuffix(".jsonl") } ?? []
    }
}

extension OpenFile {
    /// What a process that was killed has left of a line at a log's end; `nil`: nothing. Of a line longer than any that Ferry writes, no byte.
    fileprivate func tornLine(before end: Int64) throws(FileError) -> ArraySlice<UInt8>? {
        guard end > 0, try readBytes(1, at: end - 1) != [.newline] else { return nil }
        let start = max(0, end - Self.longestLine)
        let bytes = try readBytes(Int(end - start), at: start)
        if let newline = bytes.lastIndex(of: .newline) { return bytes[(newline + 1)...] }
        return start == 0 ? bytes[...] : []
    }

    private static let longestLine: Int64 = 1 << 16
}

extension UInt8 {
    fileprivate static let newline = UInt8(ascii: "\n")
}

extension Directory {
    /// Appends whole lines to a log and forces them to the disk: all of them, or none.
    ///
    /// - Parameter cutsTorn: As in ``appendLines(to:cutsTorn:_:appended:)``.
    func appendLines(_ lines: [UInt8], to name: String, cutsTorn: Bool = false) throws(FileError) {
        try appendLines(to: name, cutsTorn: cutsTorn) { _ throws(FileError) -> [UInt8] in lines }
    }

    /// - Parameters:
    ///   - cutsTorn: Removes what a process that was killed has left of a line, which is in the way of every program but Ferry, and lines that could not
    ///     be forced to the disk. A log that processes follow by its length only grows.
    ///   - lines: Asked under the log's lock, with the log's size: what other processes have logged until then can be read.
    ///   - appended: Called under the lock, with the log's size afterwards.
    func appendLines(
        to name: String, cutsTorn: Bool = false, _ lines: (Int64) throws(FileError) -> [UInt8],
        appended: (Int64) -> Void = { _ in }
    ) throws(FileError) {
        let file = try openLockedLog(name)
        guard let added = try append(lines, to: file, cutsTorn: cutsTorn, appended) else { return try file.sync() }
        do throws(FileError) {
            try file.sync()
        } catch {
            // They will be appended again.
            if cutsTorn { cut(added, from: file) }
            throw error
        }
    }

    /// Removes what was appended last, unless others have appended more since.
    private func cut(_ added: Range<Int64>, from file: OpenFile) {
        guard (try? file.lock()) != nil else { return }
        defer { file.unlock() }
        if (try? file.status().size.bytes) == added.upperBound { try? file.truncate(to: added.lowerBound) }
    }

    /// Opens a log under its lock: several processes share it, and one that looks while another writes would see a line without its end.
    private func openLockedLog(_ name: String) throws(FileError) -> OpenFile {
        while true {
            let file = try openLog(name)
            try file.lock()
            // What is appended to a log that was removed meanwhile would go with it.
            if try status(name)?.identity == file.status().identity { return file }
        }
    }

    /// Appends under the lock that the file has, and gives it back.
    ///
    /// - Returns: Where the lines are; `nil` when there was none.
    private func append(
        _ lines: (Int64) throws(FileError) -> [UInt8], to file: OpenFile, cutsTorn: Bool, _ appended: (Int64) -> Void
    ) throws(FileError) -> Range<Int64>? {
        defer { file.unlock() }
        var size = try file.status().size.bytes
        var lines = try lines(size)
        guard !lines.isEmpty else { return nil }
        // Found empty, it may be new, and its name not on the disk yet: the next process counts on it.
        if size == 0 { try sync() }
        let torn = try file.tornLine(before: size)
        if let torn {
            let isToBeCut = cutsTorn && !torn.isEmpty && torn.withUnsafeBufferPointer { JSONFlaw(in: $0) != nil }
            // A file may be one that can only be appended to.
            if isToBeCut, (try? file.truncate(to: size - Int64(torn.count))) != nil {
                size -= Int64(torn.count)
            } else {
                lines = [.newline] + lines
            }
        }
        // What fails here leaves the room behind the end as it is, which cutting half a line off again may give back.
        if isNearlyFull { try file.requireRoom(for: Int64(lines.count), at: size) }
        do throws(FileError) {
            try file.write(lines)
        } catch {
            // Half a line is in the way of every program but Ferry.
            try? file.truncate(to: size)
            throw error
        }
        appended(size + Int64(lines.count))
        return size..<size + Int64(lines.count)
    }

    /// Opens a log for appending, and makes it if need be.
    fileprivate func openLog(_ name: String) throws(FileError) -> OpenFile {
        let file = try openOrCreate(name, flags: O_RDWR | O_APPEND)
        guard try file.status().isRegular else {
            throw FileError("append to", "\(pathOf(name)), which is no regular file; move it away", code: EINVAL)
        }
        return file
    }
}
