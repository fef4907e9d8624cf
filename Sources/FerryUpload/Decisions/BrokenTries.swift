import FerrySpool

/// Counts a segment's tries that broke off on their way, so that what a link cannot carry before it is gone is split.
enum BrokenTries {
    /// After so many tries a segment is split. One may be chance.
    private static let allowed = 2

    /// The number with this try; `nil` once any try may have arrived whole: its halves would be the same events under other keys.
    ///
    /// - Parameter before: What the sidecar says; `nil` when the segment was never tried.
    static func count(before: RetryState?, _ departure: Departure) -> Int? {
        let count = before.map { $0.broken.map { max($0, 0) } } ?? 0
        return switch departure {
        case .nothing: count
        case .part: count.map { min($0, allowed) + 1 }
        case .whole: nil
        }
    }

    static func asksForSplit(_ count: Int?) -> Bool { count ?? 0 >= allowed }
}
