/// When an uploader in the tracker's process sends what is stored.
public struct DeliveryRules: Equatable, Sendable {
    /// Everything is sent when its oldest event is so old. Zero or negative: only when a person or a program flushes.
    public var interval = Duration.seconds(15)
    /// This number of stored events is sent at once, those in journals included; `nil`: they wait for the interval. 100, as in Sensors Analytics.
    public var threshold: Int64? = 100
    /// Critical segments are sent when their oldest event is so old; `nil`: like all others.
    public var criticalDelay: Duration? = .zero

    public init() {}
}
