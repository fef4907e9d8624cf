import FoundationEssentials
import Synchronization

/// How far the logs of received keys were read.
public struct ReceivedLogPlace: Sendable {
    /// By the logs' names the offsets where the next line begins.
    package fileprivate(set) var offsets: [String: Int64] = [:]

    public init() {}

    package init(offsets: [String: Int64]) { self.offsets = offsets }
}

extension Spool {
    /// Every key that was logged behind a place, which moves to the end of the last whole line.
    public func forEachReceived(
        after place: inout ReceivedLogPlace, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        for name in try receivedNames() {
            guard let file = try stateDirectory?.open(name) else { continue }
            try file.forEachReceived(name, after: &place, body)
        }
    }
}

extension OpenFile {
    /// - Parameter name: The log's name, in the place.
    fileprivate func forEachReceived(
        _ name: String, after place: inout ReceivedLogPlace, _ body: (ReceivedEntry) -> Void
    ) throws(FileError) {
        let size = try status().size.bytes
        // A log that became shorter is another one.
        let start = place.offsets[name].flatMap { $0 <= size ? $0 : nil } ?? 0
        guard size > start else { return }
        let decoder = JSONDecoder()
        place.offsets[name] = try forEachPlacedLine(from: start) { line, _ in
            if let entry = try? decoder.decode(ReceivedEntry.self, from: Data(line)) { body(entry) }
        }
    }
}

/// Learns what other processes log of received keys, for one that keeps them in memory.
public final class ReceivedLogFollower: Sendable {
    /// Changed under the lock of the logs alone, which one thread at a time has.
    private let place: Mutex<ReceivedLogPlace>
    /// The number of the turn whose logs it knows.
    private let turn = Mutex<Int64?>(nil)
    private let learn: @Sendable ([ReceivedEntry]) -> Void

    /// - Parameters:
    ///   - place: What was read before.
    ///   - learn: Called with what another process has logged.
    public init(after place: ReceivedLogPlace, learn: @escaping @Sendable ([ReceivedEntry]) -> Void) {
        self.place = Mutex(place)
        self.learn = learn
    }

    /// How far it has learned what the logs say.
    public var read: ReceivedLogPlace { place.withLock { $0 } }

    /// Reads what is new under the lock of the logs. Where no other process has logged since, that costs a look at those of a few days.
    ///
    /// - Parameters:
    ///   - size: Of the log that this process writes.
    ///   - days: The logs that processes of earlier versions may write now. They need not be there.
    ///   - number: The turn's: another one than at the last look, and any log may have got something.
    func catchUp(
        _ spool: Spool, _ name: String, size: Int64, _ days: Set<String>, _ number: Int64
    ) throws(FileError) {
        var place = place.withLock { $0 }
        var news: [ReceivedEntry] = []
        let isBehind = number != turn.withLock { $0 } || place.offsets[name] == nil
        for log in isBehind ? Set(try spool.receivedNames()) : days.union([name]) {
            let now = log == name ? size : try spool.stateDirectory?.status(log)?.size.bytes ?? 0
            guard now != place.offsets[log] ?? 0, let file = try spool.stateDirectory?.open(log) else { continue }
            try file.forEachReceived(log, after: &place) { news.append($0) }
            // What is known is answered for.
            if log != name { try file.sync() }
        }
        self.place.withLock { $0 = place }
        turn.withLock { $0 = number }
        if !news.isEmpty { learn(news) }
    }

    /// Passes over the lines that this process has appended.
    ///
    /// - Parameter number: The turn's afterwards.
    func pass(_ name: String, from start: Int64, to end: Int64, _ number: Int64) {
        place.withLock { place in if place.offsets[name] ?? 0 == start { place.offsets[name] = end } }
        turn.withLock { $0 = number }
    }
}
