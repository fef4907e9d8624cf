import FerrySpool

/// Counts a segment's tries that broke off on their way, so that what a link cannot carry before it is gone is split.
enum BrokenTries {
    /// The number of tries after which a segment is split. One may be chance.
    private static let allowed = 2

    /// Returns the number of broken tries with this one; `nil` once any try may have arrived whole: its halves would be the same events under other
    /// keys.
    ///
    /// - Parameter before: What the sidecar says; `nil` when the segment was never tried.
    static func count(before: RetryState?, _ departure: Departure) -> Int? {
        let count = before.map { $0.broken.map { max($0, 0) } } ?? 0
        return switch departure {
        case .nothing, .beginning: count
        case .part: count.map { min($0, allowed) + 1 }
        case .whole: nil
        }
    }

    /// Returns whether a segment is split after a try that had no answer.
    static func asksForSplit(_ policy: SplitPolicy, before: RetryState?, _ departure: Departure) -> Bool {
        switch policy {
        case .off: false
        case .on: departure == .part && isOften(count(before: before, departure))
        case .always: departure >= .part && (isOften(count(before: before, departure)) || hadNoAnswer(before))
        }
    }

    /// Returns a hint on a segment that broken tries do not split, where that blocks it; empty where it does not.
    static func hint(_ policy: SplitPolicy, before: RetryState?, _ departure: Departure) -> String {
        guard policy == .on, departure >= .part, hadNoAnswer(before), count(before: before, departure) == nil else {
            return ""
        }
        return
            "; it is not split for a link that breaks, because the other side may have got it whole in a try that had no answer. "
            + "If it has not, --split-broken always splits it"
    }

    private static func isOften(_ count: Int?) -> Bool { count ?? 0 >= allowed }

    private static func hadNoAnswer(_ state: RetryState?) -> Bool { ["closed", "timeout"].contains(state?.lastError.kind) }
}
