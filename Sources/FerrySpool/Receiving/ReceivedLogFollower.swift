import Synchronization

/// Learns what other processes log of received keys, for one that keeps them in memory.
package final class ReceivedLogFollower: Sendable {
    /// Changed under the lock of the logs alone, which one thread at a time has.
    private let place: Mutex<ReceivedLogPlace>
    /// The number of the turn whose logs it knows.
    private let turn = Mutex<Int64?>(nil)
    private let learn: @Sendable ([ReceivedEntry]) -> Void
    private let readAll: (@Sendable (ReceivedLogPlace) throws(FileError) -> ReadAnew)?

    /// What was read anew from the logs' beginnings.
    package struct ReadAnew {
        let place: ReceivedLogPlace
        let use: () -> Void

        /// Creates the result of reading the logs anew.
        ///
        /// - Parameters:
        ///   - place: How far the logs were read.
        ///   - use: Called under the lock of the logs: what was read takes the place of what was known.
        package init(to place: ReceivedLogPlace, use: @escaping () -> Void) {
            self.place = place
            self.use = use
        }
    }

    private let mostLearned: Int64

    /// Follows the logs from a place on.
    ///
    /// - Parameters:
    ///   - place: What was read before.
    ///   - mostLearned: More bytes than this are read anew, which takes a fraction of the time and the memory: some 8,000 lines.
    ///   - learn: Called under the lock of the logs with what another process has logged, which is before ``read`` then: keys that are in the
    ///     logs up to there may be taken out of the memory at any time.
    ///   - readAll: Reads the logs anew, where much was logged, up to a place: what is behind it may be cut off again. Called without the lock of the
    ///     logs: the others go on meanwhile. `nil`: all is learned.
    package init(
        after place: ReceivedLogPlace, mostLearned: Int64 = 2 << 20, learn: @escaping @Sendable ([ReceivedEntry]) -> Void,
        readAll: (@Sendable (ReceivedLogPlace) throws(FileError) -> ReadAnew)? = nil
    ) {
        self.place = Mutex(place)
        self.mostLearned = mostLearned
        self.learn = learn
        self.readAll = readAll
    }

    /// How far it has learned what the logs say.
    package var read: ReceivedLogPlace { place.withLock { $0 } }

    func readAnew(upTo end: ReceivedLogPlace) throws(FileError) -> ReadAnew? { try readAll?(end) }

    /// Goes on behind what was read anew, under the lock of the logs.
    func use(_ anew: ReadAnew) {
        place.withLock { $0 = anew.place }
        turn.withLock { $0 = nil }
        anew.use()
    }

    /// Reads what is new under the lock of the logs. Where no other process has logged since, that costs a look at those of a few days.
    ///
    /// - Parameters:
    ///   - size: Of the log that this process writes.
    ///   - days: The logs that processes of earlier versions may write now. They need not be there.
    ///   - number: The turn's: another one than at the last look, and any log may have got something.
    ///   - howeverMuch: Whether it reads also what would take long.
    /// - Returns: `nil`, or up to where all is to be read anew, when that is more than is read under the lock.
    func catchUp(
        _ spool: Spool, _ name: String, size: Int64, _ days: Set<String>, _ number: Int64, howeverMuch: Bool
    ) throws(FileError) -> ReceivedLogPlace? {
        var place = place.withLock { $0 }
        let isBehind = number != turn.withLock { $0 } || place.offsets[name] == nil
        var longer: [(name: String, file: OpenFile)] = []
        var amount: Int64 = 0
        for log in isBehind ? Set(try spool.received.names()) : days.union([name]) {
            let now = log == name ? size : try spool.stateDirectory?.status(log)?.size.bytes ?? 0
            // One that was cut off, and has other lines now, may be as long as before.
            guard now != place.offsets[log] ?? 0 || isBehind && days.contains(log),
                let file = try spool.stateDirectory?.open(log)
            else { continue }
            let start = try place.start(in: log, file, size: now)
            guard start < now else { continue }
            longer.append((log, file))
            amount += now - start
        }
        if amount > mostLearned, !howeverMuch, readAll != nil { return try spool.received.ends() }
        var news: [ReceivedEntry] = []
        for (log, file) in longer {
            try file.forEachReceived(log, after: &place) { news.append($0) }
            // What is known is answered for.
            if log != name { try file.sync() }
        }
        self.place.withLock { $0 = place }
        turn.withLock { $0 = number }
        if !news.isEmpty { learn(news) }
        return nil
    }

    /// Passes over the lines that this process has appended.
    ///
    /// - Parameter number: The turn's afterwards.
    func pass(_ lines: [UInt8], of name: String, from start: Int64, to end: Int64, _ number: Int64) {
        place.withLock { place in
            if place.offsets[name] ?? 0 == start { place.move(in: name, to: end, behind: lines) }
        }
        turn.withLock { $0 = number }
    }
}
