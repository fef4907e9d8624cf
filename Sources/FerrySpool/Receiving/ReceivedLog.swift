import Glibc

/// The keys of all segments that came from elsewhere: the files `.ferry/received-YYYYMMDD.jsonl`.
package struct ReceivedLog: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Notes keys, durably.
    package func log(_ entries: [ReceivedEntry]) throws(FileError) {
        try log(entries) { _ throws(FileError) -> Bool in true }
    }

    /// Logs the keys that are new, durably.
    ///
    /// - Parameters:
    ///   - follower: Learns first what other processes have logged.
    ///   - isNew: Asked for each under the lock of the log: what other processes have logged until then can be read.
    func log(
        _ entries: [ReceivedEntry], following follower: ReceivedLogFollower? = nil,
        where isNew: (ReceivedEntry) throws(FileError) -> Bool
    ) throws(FileError) {
        guard let time = entries.first?.at else { return }
        try append(on: time, following: follower) { () throws(FileError) -> [UInt8] in
            var lines: [UInt8] = []
            for entry in entries where try isNew(entry) { lines += JSONLine.encode(entry) }
            return lines
        }
    }

    /// Has a follower learn what other processes have logged, and forces it to the disk: it can be counted on then.
    ///
    /// - Parameter patience: So long it waits for the turn of others.
    package func follow(
        _ follower: ReceivedLogFollower, at now: Timestamp, within patience: Duration = OpenFile.patience
    ) throws(FileError) {
        try append(on: now, following: follower, within: patience) { () throws(FileError) -> [UInt8] in [] }
    }

    func append(
        on time: Timestamp, following follower: ReceivedLogFollower?, within patience: Duration = OpenFile.patience,
        _ lines: () throws(FileError) -> [UInt8]
    ) throws(FileError) {
        guard let end = try append(on: time, following: follower, after: nil, within: patience, lines) else { return }
        // All others would wait for that under the lock.
        let anew = try follower?.readAnew(upTo: end)
        _ = try append(on: time, following: follower, after: anew, within: patience, lines)
    }

    /// Appends lines to the log of a time's day.
    ///
    /// - Returns: `nil`, or up to where all is to be read anew before, when others have logged too much to read under the lock. Nothing is appended
    ///   then.
    private func append(
        on time: Timestamp, following follower: ReceivedLogFollower?, after anew: ReceivedLogFollower.ReadAnew?,
        within patience: Duration, _ lines: () throws(FileError) -> [UInt8]
    ) throws(FileError) -> ReceivedLogPlace? {
        guard let stateDirectory = spool.stateDirectory else { throw FileError("write log of", spool.path, code: EROFS) }
        let name = Self.name(time.compactDay)
        // Over midnight, or when a clock is set, processes log into different files: one lock for all of them.
        let turn = try ReceivedLogTurn(in: stateDirectory, within: patience)
        defer { turn.end() }
        var (start, end): (Int64, Int64?) = (0, nil)
        var appended: [UInt8] = []
        var isBehind: ReceivedLogPlace?
        try stateDirectory.appendLines(to: name) { size throws(FileError) -> [UInt8] in
            start = size
            if let anew { follower?.use(anew) }
            let days = Self.names(about: [time, .now()])
            isBehind = try follower?.catchUp(spool, name, size: size, days, turn.number, howeverMuch: anew != nil)
            appended = isBehind == nil ? try lines() : []
            // The others need not wait for the disk as well.
            if appended.isEmpty { turn.end() } else { try turn.count() }
            return appended
        } appended: {
            end = $0
            turn.end()
        }
        // Lines whose forced write failed may be there: they are read as if others had logged them.
        if let end { follower?.pass(appended, of: name, from: start, to: end, turn.number) }
        return isBehind
    }

    /// Forces what the logs of received keys have by now to the disk: what is known from them is answered for.
    package func sync() throws(FileError) {
        for name in try names() { try spool.stateDirectory?.open(name)?.sync() }
    }

    /// Returns the names of the logs of received keys.
    func names() throws(FileError) -> [String] {
        try spool.stateDirectory?.names().filter(isLog) ?? []
    }

    /// Returns whether it is the name of a log of received keys.
    package func isLog(_ name: String) -> Bool { name.hasPrefix(Self.prefix) && name.hasSuffix(".jsonl") }

    static let prefix = "received-"

    /// Returns the logs that processes with these times write, and those that began just before or after a midnight.
    private static func names(about times: [Timestamp]) -> Set<String> {
        let days = [Duration.seconds(-86_400), .zero, .seconds(86_400)]
        return Set(times.flatMap { time in days.map { name((time + $0).compactDay) } })
    }

    private static func name(_ day: String) -> String { "\(prefix)\(day).jsonl" }

    /// Calls `body` with every key ever accepted, oldest first. Torn lines are passed over: their arrivals were not answered.
    package func forEach(_ body: (ReceivedEntry) -> Void) throws(FileError) {
        var place = ReceivedLogPlace()
        try forEach(after: &place, body)
    }

    /// Returns the hidden files that a day's log names.
    func loggedArrivals(ofDayOf entry: ReceivedEntry) throws(FileError) -> Set<String> {
        var names: Set<String> = []
        try forEachLine(on: entry.at) { line in
            if let name = line.text(after: "\"file\":\"") { names.insert(name) }
        }
        return names
    }

    /// Calls `body` with the lines of a day's log as they are: the fields in the form that the log is written in, for the day may have been long.
    func forEachLine(on time: Timestamp, _ body: (UnsafeBufferPointer<UInt8>) -> Void) throws(FileError) {
        try spool.stateDirectory?.open(Self.name(time.compactDay))?.forEachLine(body)
    }
}

extension Spool {
    /// The keys of all segments that came from elsewhere.
    package var received: ReceivedLog { ReceivedLog(spool: self) }
}
