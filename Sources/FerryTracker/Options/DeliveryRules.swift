/// When an uploader in the tracker's process sends what is stored.
public struct DeliveryRules: Equatable, Sendable {
    /// The age of the oldest stored event at which everything is sent. Zero or negative: only when a person or a program flushes.
    public var interval = Duration.seconds(15)
    /// This number of stored events is sent at once, those in journals included; `nil`: they wait for the interval. 100, as in Sensors Analytics.
    public var threshold: Int64? = 100
    /// The age of the oldest event at which critical segments are sent; `nil`: like all others.
    public var criticalDelay: Duration? = .zero

    /// Creates Sensors Analytics' rules: 15 s or 100 events.
    public init() {}
}
