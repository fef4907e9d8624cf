import CForks
import Synchronization

/// Which process sends. The threads that requests and tasks run on begin with the first sending, and are never there in a fork's child: it
/// would wait for them for ever.
enum SendingProcess {
    private static let none = -1
    /// By the count of forks.
    private static let first = Atomic(none)

    /// Returns whether this process can send: no process that it was forked from has.
    static func claim() -> Bool {
        let forks = Int(ferry_fork_count())
        let (isFirst, sender) = first.compareExchange(expected: none, desired: forks, ordering: .acquiringAndReleasing)
        return isFirst || sender == forks
    }
}
