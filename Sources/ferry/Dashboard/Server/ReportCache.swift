import FerrySpool
import Synchronization

/// The last report, made anew when it is asked for and old: never while nothing asks.
final class ReportCache: Sendable {
    struct Entry: Sendable {
        let report: HubReport
        /// What stands for all that the page shows: another one where anything has changed.
        let mark: UInt64
    }

    private struct State {
        var entry: Entry?
        var isGathering = false
        /// Until then the last one is good enough.
        var freshUntil = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let gather: @Sendable () -> HubReport

    /// The shortest time between two reports.
    private static let shortest = Duration.seconds(1)
    /// Gathering takes no more than this share of the time.
    private static let share = 20

    init(_ gather: @escaping @Sendable () -> HubReport) { self.gather = gather }

    /// Returns the report, a second old at most, or as old as it must be not to keep the disk busy; `nil` while there is none, as another thread makes the
    /// first one. May wait for the disk.
    func current() -> Entry? {
        let known: Entry?? = state.withLock { state in
            if state.isGathering || state.entry != nil && ContinuousClock.now < state.freshUntil { return state.entry }
            state.isGathering = true
            return .none
        }
        if let known { return known }
        let begin = ContinuousClock.now
        let report = gather()
        let entry = Entry(report: report, mark: StableHash.of(HubPage(report, showsAll: true).content.markup.utf8))
        let end = ContinuousClock.now
        state.withLock { state in
            state.entry = entry
            state.isGathering = false
            state.freshUntil = end + max(Self.shortest, (end - begin) * Self.share)
        }
        return entry
    }
}
