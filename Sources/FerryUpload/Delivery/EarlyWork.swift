import CForks
import Synchronization

/// The first work of an uploader in a program, in which the Swift runtime meets types for the first time. It takes locks for that, and a child
/// that is forked in that moment would wait for them for ever: so a fork waits for it, for a second at most (`ferry_begin_errand`).
struct EarlyWork: ~Copyable {
    private static let begun = Atomic(0)
    /// What comes later meets nothing new.
    private static let mostBegun = 64
    private let forks = ferry_fork_count()

    /// `nil` for work that is not early any more.
    init?() {
        guard Self.begun.load(ordering: .relaxed) < Self.mostBegun else { return nil }
        Self.begun.add(1, ordering: .relaxed)
        ferry_begin_errand()
    }

    deinit { if forks == ferry_fork_count() { ferry_end_errand() } }
}
