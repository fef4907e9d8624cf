public import FerrySpool

/// When a spool's segments are sent.
public struct SchedulePolicy: Equatable, Sendable {
    /// Everything stored is sent when its oldest event is so old, as the time in the segment's name tells. Zero or negative: only when somebody
    /// asks, as in Google Analytics' SDK.
    public var interval: Duration
    /// So many stored events are sent at once; 1: each segment as it appears. `nil`: they wait for the interval.
    public var events: Int64?
    /// So many stored bytes are sent at once.
    public var bytes: ByteCount?
    /// Critical segments are sent when their oldest event is so old, whatever the interval; `nil`: like all others.
    public var criticalDelay: Duration?

    public init(interval: Duration, events: Int64? = nil, bytes: ByteCount? = nil, criticalDelay: Duration? = .zero) {
        self.interval = interval
        self.events = events
        self.bytes = bytes
        self.criticalDelay = criticalDelay
    }

    var isManual: Bool { interval <= .zero }

    /// Whether it matters how many events a segment holds.
    var countsEvents: Bool { !isManual && events.map { $0 > 1 } ?? false }
}

/// When the segments of one spool may leave: the decision, without a clock. Times are since any fixed moment, by a clock that nobody sets.
struct SendSchedule: Equatable, Sendable {
    let policy: SchedulePolicy
    /// Stored since everything was last released.
    private var events: Int64 = 0
    private var bytes = ByteCount.zero
    private(set) var isAsked = false

    init(_ policy: SchedulePolicy) { self.policy = policy }

    /// What becomes of a segment that appears.
    enum Place: Equatable {
        case queue
        case hold(until: Duration, isUrgent: Bool)
    }

    /// A segment appeared.
    ///
    /// - Parameter age: How old its oldest event is.
    mutating func stored(
        _ priority: Priority, age: Duration, events: Int64, bytes: ByteCount, at now: Duration
    ) -> Place {
        self.events.add(events)
        self.bytes += bytes
        // The clock may have been set since.
        let age = max(.zero, age)
        if priority == .critical, let delay = policy.criticalDelay {
            return age >= delay ? .queue : .hold(until: now + delay - age, isUrgent: true)
        }
        // What nobody has asked for waits behind its gate.
        if policy.isManual || policy.events == 1 { return .queue }
        return .hold(until: now + max(.zero, policy.interval - age), isUrgent: false)
    }

    /// What of the held segments may leave; `nil`: nothing more.
    mutating func release(_ held: HeldSegments, at now: Duration) -> HeldSegments.Share? {
        let isEnough =
            policy.countsEvents && policy.events.map { events >= $0 } ?? false || policy.bytes.map { bytes >= $0 } ?? false
        if isAsked || isEnough && !policy.isManual {
            releasedAll()
            if !policy.isManual { isAsked = false }
            return held.isEmpty ? nil : .all
        }
        let isUrgent = held.urgentDue.map { $0 <= now } ?? false
        guard held.ordinaryDue.map({ $0 <= now }) ?? false else { return isUrgent ? .urgent : nil }
        releasedAll()
        return isUrgent ? .all : .ordinary
    }

    private mutating func releasedAll() {
        events = 0
        bytes = .zero
    }

    /// Somebody asked for everything to be sent.
    mutating func ask() { isAsked = true }

    /// A segment that was to be sent could not be taken in hand then, and can now: nobody has to ask for it again.
    mutating func missedTurn() { if policy.isManual { isAsked = true } }

    /// Everything has left that may.
    mutating func drained() { isAsked = false }

    /// What may leave of what is held no longer.
    var gate: LaneGate {
        if !policy.isManual || isAsked { return .open }
        return policy.criticalDelay == nil ? .closed : .critical
    }
}
