/// An interval that may not be set.
public struct IntervalError: Error, Equatable, CustomStringConvertible {
    public let interval: Duration
    public let bounds: IntervalBounds

    public init(interval: Duration, bounds: IntervalBounds) {
        self.interval = interval
        self.bounds = bounds
    }

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
