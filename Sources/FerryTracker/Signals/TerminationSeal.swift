import CForks
import CTracker

/// Closes the process's trackers when SIGTERM or SIGINT asks it to end, then lets it end by the signal.
enum TerminationSeal {
    private struct OpenTracker: Sendable {
        let id: ObjectIdentifier
        let close: @Sendable () -> Void
    }

    /// Touched only between `ferry_hold_forks` and `ferry_allow_forks`, which hold one lock: a lock of its own would be copied into a fork's child as
    /// it is, held for ever by a thread that is not there.
    nonisolated(unsafe) private static var trackers: [OpenTracker] = []

    /// Calls `body` with the open trackers. None may be let go of in it: it would close itself, and open a file while forks are held back.
    private static func withTrackers<Result>(_ body: (inout [OpenTracker]) -> Result) -> Result {
        ferry_hold_forks()
        defer { ferry_allow_forks() }
        return body(&trackers)
    }

    /// Registers a tracker. Where the process cannot have another pipe or thread, it ends by the signals as it always did; journals are safe without.
    ///
    /// - Parameter close: Closes the tracker. It must not keep it alive.
    static func register(_ tracker: AnyObject, close: @escaping @Sendable () -> Void) {
        let registered = OpenTracker(id: ObjectIdentifier(tracker), close: close)
        withTrackers { $0.append(registered) }
        _ = ferry_watch_termination { TerminationSeal.closeAll() }
    }

    static func forget(_ tracker: AnyObject) {
        let id = ObjectIdentifier(tracker)
        withTrackers { $0.removeAll { $0.id == id } }
    }

    private static func closeAll() {
        for tracker in withTrackers({ $0 }) { tracker.close() }
    }
}
