public import FerrySpool

/// When a spool's segments are sent.
public struct SchedulePolicy: Equatable, Sendable {
    /// Everything stored is sent when its oldest event has this age, as the time in the segment's name tells. Zero or negative: only when a person or a program
    /// asks, as in Google Analytics' SDK.
    public var interval: Duration
    /// This number of stored events is sent at once; 1: each segment as it appears. `nil`: they wait for the interval.
    public var events: Int64?
    /// This number of stored bytes is sent at once.
    public var bytes: ByteCount?
    /// Critical segments are sent when their oldest event has this age, independent of the interval; `nil`: like all others.
    public var criticalDelay: Duration?

    /// Creates a policy. By default critical segments leave at once, and no number of events or bytes ends the wait for the interval.
    public init(interval: Duration, events: Int64? = nil, bytes: ByteCount? = nil, criticalDelay: Duration? = .zero) {
        self.interval = interval
        self.events = events
        self.bytes = bytes
        self.criticalDelay = criticalDelay
    }

    var isManual: Bool { interval <= .zero }

    /// Whether what is stored waits for the interval or a threshold.
    var gathers: Bool { !isManual && events != 1 }

    /// Whether it matters how many events a segment holds.
    var countsEvents: Bool { !isManual && events.map { $0 > 1 } ?? false }
}
