import CForks
import CTracker

/// Closes the process's trackers when SIGTERM or SIGINT asks it to end, then lets it end by the signal.
enum TerminationSeal {
    private struct Reference: Sendable {
        let id: ObjectIdentifier
        weak let tracker: EventTracker?
    }

    /// Touched only between `ferry_hold_forks` and `ferry_allow_forks`, which hold one lock: a lock of its own would be copied into a fork's child as
    /// it is, held for ever by a thread that is not there.
    nonisolated(unsafe) private static var trackers: [Reference] = []

    /// No tracker may be let go of in `body`: it would close itself, and open a file while forks are held back.
    private static func withTrackers<Result>(_ body: (inout [Reference]) -> Result) -> Result {
        ferry_hold_forks()
        defer { ferry_allow_forks() }
        return body(&trackers)
    }

    /// Where the process cannot have another pipe or thread, it ends by the signals as it always did; journals are safe without.
    static func register(_ tracker: EventTracker) {
        let reference = Reference(id: ObjectIdentifier(tracker), tracker: tracker)
        withTrackers { $0.append(reference) }
        _ = ferry_watch_termination { TerminationSeal.closeAll() }
    }

    static func forget(_ tracker: EventTracker) {
        let id = ObjectIdentifier(tracker)
        withTrackers { $0.removeAll { $0.id == id } }
    }

    private static func closeAll() {
        let references = withTrackers { $0 }
        for tracker in references.compactMap(\.tracker) { try? tracker.close() }
    }
}
