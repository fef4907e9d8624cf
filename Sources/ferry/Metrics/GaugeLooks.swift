import FerrySpool
import Synchronization

/// Looks into spools for their gauges when metrics are asked for, unless that was done just now.
final class GaugeLooks: Sendable {
    private struct State {
        var found: [String: SpoolGauges] = [:]
        var isLooking = false
        var nextLook = ContinuousClock.now
    }

    /// A file system that does not answer keeps the other metrics waiting no longer.
    private static let patience = Duration.seconds(2)
    /// Looks take a fiftieth of the time at most, however often metrics are asked for.
    private static let share = 50
    private static let shortestPause = Duration.seconds(1)

    private let state = Mutex(State())

    /// Returns the gauges of spools by their paths, as the last look found them. Those that cannot be looked at are left out.
    ///
    /// - Parameter paths: Asked for on a thread that may block.
    func gauges(of paths: @escaping @Sendable () -> [String]) async -> [String: SpoolGauges] {
        if begin() {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in _ = await abandonable { self.look(at: paths()) } }
                group.addTask { try? await Task.sleep(for: Self.patience) }
                await group.next()
                group.cancelAll()
            }
        }
        return state.withLock(\.found)
    }

    private func begin() -> Bool {
        state.withLock { state in
            guard !state.isLooking, ContinuousClock.now >= state.nextLook else { return false }
            state.isLooking = true
            return true
        }
    }

    private func look(at paths: [String]) {
        let (start, now, locks) = (ContinuousClock.now, Timestamp.now(), HeldLocks())
        var found: [String: SpoolGauges] = [:]
        for path in paths { found[path] = SpoolGauges(of: path, at: now, locks: locks) }
        let end = ContinuousClock.now
        state.withLock { state in
            state = State(found: found, nextLook: end + max(Self.shortestPause, (end - start) * Self.share))
        }
    }
}
