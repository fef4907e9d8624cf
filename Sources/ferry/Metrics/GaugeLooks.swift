import FerrySpool
import Synchronization

/// Looks into spools for their gauges when metrics are asked for, unless that was done just now.
final class GaugeLooks: Sendable {
    /// What a look found.
    struct Found: Sendable {
        /// Where it looked.
        fileprivate(set) var paths: [String]
        fileprivate var gauges: [String: SpoolGauges]

        init(_ gauges: [String: SpoolGauges] = [:]) {
            paths = gauges.keys.sorted()
            self.gauges = gauges
        }

        /// Returns the gauges of the spool at a path; `nil` when it could not be looked at.
        subscript(path: String) -> SpoolGauges? { gauges[path] }

        /// Returns whether it was looked at, in vain.
        func cannotRead(_ path: String) -> Bool { paths.contains(path) && gauges[path] == nil }
    }

    private struct State {
        var found = Found()
        var isLooking = false
        var nextLook = ContinuousClock.now
        /// When the look that found it began.
        var lookedAt = ContinuousClock.now
    }

    /// What was found longer ago than that, and twice as long as a look takes with its pause, is not told: a file system that hangs is no healthy one.
    private static let longestAge = Duration.seconds(60)

    /// A file system that does not answer keeps the other metrics waiting no longer.
    private static let patience = Duration.seconds(2)
    /// Looks take a fiftieth of the time at most, however often metrics are asked for.
    private static let share = 50
    private static let shortestPause = Duration.seconds(1)

    private let state = Mutex(State())
    private let readsSenders: Bool

    /// - Parameter readsSenders: Whether the log of received keys is read for where segments came from.
    init(readsSenders: Bool = false) { self.readsSenders = readsSenders }

    /// Returns the gauges of spools, as the last look found them.
    ///
    /// - Parameter paths: Asked for on a thread that may block.
    func gauges(of paths: @escaping @Sendable () -> [String]) async -> Found {
        if begin() {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { [self] in _ = await abandonable { self.look(at: paths()) } }
                group.addTask { try? await Task.sleep(for: Self.patience) }
                await group.next()
                group.cancelAll()
            }
        }
        return state.withLock { state in
            let isStale = state.isLooking && ContinuousClock.now - max(state.nextLook, state.lookedAt) > Self.longestAge
            return isStale ? Found() : state.found
        }
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
        let registrations = Registrations(of: paths)
        var found = Found()
        found.paths = paths
        for path in paths {
            found.gauges[path] = SpoolGauges(
                of: path, at: now, locks: locks, registration: registrations[path], readsSenders: readsSenders)
        }
        let end = ContinuousClock.now
        state.withLock { state in
            let pause = max(Self.shortestPause, (end - start) * Self.share)
            state = State(found: found, nextLook: end + pause, lookedAt: start)
        }
    }
}
