/// An interval that may not be set.
public struct IntervalError: Error, Equatable, CustomStringConvertible {
    /// The interval that was to be set.
    public let interval: Duration
    /// The bounds that it is not within.
    public let bounds: IntervalBounds

    /// Creates an error.
    public init(interval: Duration, bounds: IntervalBounds) {
        self.interval = interval
        self.bounds = bounds
    }

    /// The interval and the allowed range in seconds, for people.
    public var description: String {
        "an interval of \(interval.asSeconds) is not between \(bounds.allowed.lowerBound.asSeconds) and \(bounds.allowed.upperBound.asSeconds)"
    }
}

extension Duration {
    /// In seconds, with no larger unit, so that two that differ look different.
    fileprivate var asSeconds: String {
        let (seconds, rest) = components
        return rest == 0 ? "\(seconds) s" : "\(inSeconds) s"
    }
}
