public import FerrySpool

/// What interval between publications may be set, and when.
public struct IntervalRule: Equatable, Sendable {
    public enum Change: Equatable, Sendable {
        /// Only before the tracker starts.
        case refusedAfterStart
        /// At any time; what is stored is flushed first.
        case flushes
    }

    public var bounds: IntervalBounds
    public var change: Change

    public init(_ bounds: IntervalBounds, change: Change) {
        self.bounds = bounds
        self.change = change
    }

    /// 6 s to a day, at any time.
    public static let standard = IntervalRule(.appCenter, change: .flushes)
}
