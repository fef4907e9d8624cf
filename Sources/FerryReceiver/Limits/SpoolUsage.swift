import FerrySpool
import Synchronization

/// How many bytes are pending in a machine's spool, by a look now and then and what came since, and how many are under way to it.
final class SpoolUsage: Sendable {
    private struct State {
        var bytes = ByteCount.zero
        /// Of requests that have not ended.
        var underWay = ByteCount.zero
        /// Requests under way for which no room is set aside.
        var repeated = 0
        /// From then on another look is worth its time.
        var looksAgainAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Looking takes no more than this share of the time.
    private static let share = 20
    private static let shortest = Duration.seconds(1)

    /// Looks at the spool, unless the last look was just now.
    ///
    /// - Parameter gathered: What will be pending, and is not yet.
    func look(at spool: Spool, besides gathered: @autoclosure () -> ByteCount) throws(FileError) {
        let begin = ContinuousClock.now
        guard state.withLock({ $0.looksAgainAt.map { $0 <= begin } ?? true }) else { return }
        // Before the folder: what becomes pending meanwhile is counted twice, and not never.
        let before = gathered()
        let pending = try spool.scan(sizes: true).entries.reduce(before) { $0 + ($1.size ?? .zero) }
        let end = ContinuousClock.now
        state.withLock { state in
            state.bytes = pending
            state.looksAgainAt = end + max(Self.shortest, (end - begin) * Self.share)
        }
    }

    /// Sets room aside for a request. Returns `false`, and sets none aside, where there is not enough.
    func take(_ more: ByteCount, within limit: ByteCount) -> Bool {
        state.withLock { state in
            guard state.bytes + state.underWay + more <= limit else { return false }
            state.underWay += more
            return true
        }
    }

    /// As many of a machine's requests as may be under way beyond its limit.
    private static let mostRepeated = 2

    /// Begins a request for which no room is set aside. Returns `false` where there are enough of them.
    func beginRepeated() -> Bool {
        state.withLock { state in
            guard state.repeated < Self.mostRepeated else { return false }
            state.repeated += 1
            return true
        }
    }

    /// Ends such a request.
    func endRepeated() { state.withLock { $0.repeated -= 1 } }

    /// Ends a request.
    ///
    /// - Parameters:
    ///   - taken: The room that was set aside for it.
    ///   - stored: What of it is pending now.
    func end(_ taken: ByteCount, stored: ByteCount) {
        state.withLock { state in
            state.underWay = state.underWay - taken
            state.bytes += stored
        }
    }
}
