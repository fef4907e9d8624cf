public import FerrySpool

/// What interval between publications may be set, and when.
public struct IntervalRule: Equatable, Sendable {
    /// When the interval may be changed.
    public enum Change: Equatable, Sendable {
        /// Only before the tracker starts.
        case refusedAfterStart
        /// At any time; what is stored is flushed first.
        case flushes
    }

    /// The shortest and the longest interval, and what becomes of another one.
    package var bounds: IntervalBounds
    /// When the interval may be changed.
    package var change: Change

    /// Creates a rule from bounds and when the interval may be changed.
    public init(_ bounds: IntervalBounds, change: Change) {
        self.bounds = bounds
        self.change = change
    }

    /// 6 s to a day, at any time.
    public static let standard = IntervalRule(.appCenter, change: .flushes)
}
