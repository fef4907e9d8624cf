import CForks
import Synchronization

/// The first work of an uploader in a program, in which the Swift runtime meets types for the first time. It takes locks for that, and a child
/// that is forked in that moment would wait for them for ever: so a fork waits for it, for a second at most (`ferry_begin_errand`).
struct EarlyWork: ~Copyable {
    private static let begun = Atomic(0)
    /// What comes later meets nothing new.
    private static let mostBegun = 64
    private let forks: CInt

    /// Begins early work; `nil` when it is not early any more. Not an initializer: one that fails with all its properties set runs `deinit`.
    static func begin() -> EarlyWork? {
        guard begun.load(ordering: .relaxed) < mostBegun else { return nil }
        begun.add(1, ordering: .relaxed)
        ferry_begin_errand()
        return EarlyWork(forks: ferry_fork_count())
    }

    deinit { if forks == ferry_fork_count() { ferry_end_errand() } }
}
