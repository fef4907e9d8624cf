import CTracker
import Dispatch
import Glibc
import Synchronization

/// Closes the process's trackers when SIGTERM or SIGINT asks it to end, then lets it end by the signal.
enum TerminationSeal {
    private struct Reference: Sendable {
        weak let tracker: EventTracker?
    }

    private static let trackers = Mutex<[Reference]>([])

    /// The handler writes into a pipe; a thread of its own waits at the other end.
    private static let isWatching: Bool = {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        let (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A handler never waits.
        _ = fcntl(writeEnd, F_SETFL, O_NONBLOCK)
        DispatchQueue(label: "ferry.tracker.termination").async {
            var signal: UInt8 = 0
            while true {
                let count = read(readEnd, &signal, 1)
                if count == 1 { closeAll() } else if count == 0 || errno != EINTR { return }
                ferry_end_by(Int32(signal))
            }
        }
        ferry_announce_termination(writeEnd)
        return true
    }()

    static func register(_ tracker: EventTracker) {
        trackers.withLock { trackers in
            trackers.removeAll { $0.tracker == nil }
            trackers.append(Reference(tracker: tracker))
        }
        _ = isWatching
    }

    private static func closeAll() {
        for tracker in trackers.withLock({ $0.compactMap(\.tracker) }) { try? tracker.close() }
    }
}
