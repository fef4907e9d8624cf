/// Which intervals between an event and its request may be set. The SDKs' documents have bounds, and differ in what is done beyond them.
public struct IntervalBounds: Equatable, Sendable {
    /// What is done with an interval that is too short.
    public enum Short: Equatable, Sendable {
        case refused
        /// The shortest allowed one is taken.
        case raised
    }

    /// The intervals that are allowed.
    public var allowed: ClosedRange<Duration>
    /// What is done with an interval that is too short.
    public var short: Short
    /// Whether zero and below are allowed, and mean: only on request.
    public var allowsManual: Bool

    /// Creates bounds.
    public init(_ allowed: ClosedRange<Duration>, short: Short = .refused, allowsManual: Bool = false) {
        self.allowed = allowed
        self.short = short
        self.allowsManual = allowsManual
    }

    /// App Center: "between 6 seconds and 86400 seconds (one day)"; beyond them its SDK refuses.
    public static let appCenter = IntervalBounds(.seconds(6) ... .seconds(86_400))
    /// Google Analytics: any number of seconds; zero and below dispatch by hand. Bounded to a year, as all times in Ferry are bounded.
    public static let googleAnalytics = IntervalBounds(.milliseconds(1) ... .seconds(366 * 86_400), allowsManual: true)
    /// Sensors Analytics: at least 5 s; less becomes 5 s. Bounded to a year.
    public static let sensors = IntervalBounds(.seconds(5) ... .seconds(366 * 86_400), short: .raised)

    /// Returns the interval that counts where one is asked for; zero and below: only on request.
    public func bounded(_ interval: Duration) throws(IntervalError) -> Duration {
        if allowsManual, interval <= .zero { return interval }
        if allowed.contains(interval) { return interval }
        if interval < allowed.lowerBound, short == .raised { return allowed.lowerBound }
        throw IntervalError(interval: interval, bounds: self)
    }
}
