import FerrySpool
import Synchronization

/// How many bytes are pending in a machine's spool, by a look now and then and what came since.
final class SpoolUsage: Sendable {
    private struct State {
        var bytes = ByteCount.zero
        /// From then on another look is worth its time.
        var looksAgainAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())

    /// Looking takes no more than this share of the time.
    private static let share = 20
    private static let shortest = Duration.seconds(1)

    /// Looks at the spool, unless the last look was just now.
    func look(at spool: Spool) throws(FileError) {
        let begin = ContinuousClock.now
        guard state.withLock({ $0.looksAgainAt.map { $0 <= begin } ?? true }) else { return }
        let pending = try spool.scan(sizes: true).entries.reduce(ByteCount.zero) { $0 + ($1.size ?? .zero) }
        let end = ContinuousClock.now
        state.withLock { state in
            state.bytes = pending
            state.looksAgainAt = end + max(Self.shortest, (end - begin) * Self.share)
        }
    }

    /// Whether so much more may be stored.
    func hasRoom(for more: ByteCount, within limit: ByteCount) -> Bool { state.withLock { $0.bytes + more <= limit } }

    func add(_ bytes: ByteCount) { state.withLock { $0.bytes += bytes } }
}
