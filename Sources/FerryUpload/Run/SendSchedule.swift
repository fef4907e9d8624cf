public import FerrySpool

/// When a spool's segments are sent.
public struct SchedulePolicy: Equatable, Sendable {
    /// Everything stored is sent this often. Zero or negative: only when somebody asks, as in Google Analytics' SDK.
    public var interval: Duration
    /// So many stored events are sent at once; 1: each segment as it appears. `nil`: they wait for the interval.
    public var events: Int64?
    /// So many stored bytes are sent at once.
    public var bytes: ByteCount?
    /// Critical segments are sent this long after they appear, whatever the interval; `nil`: like all others.
    public var criticalDelay: Duration?

    public init(interval: Duration, events: Int64? = nil, bytes: ByteCount? = nil, criticalDelay: Duration? = .zero) {
        self.interval = interval
        self.events = events
        self.bytes = bytes
        self.criticalDelay = criticalDelay
    }

    var isManual: Bool { interval <= .zero }
}

/// When one spool's gate opens: the decision, without a clock. Times are since any fixed moment, by a clock that nobody sets.
struct SendSchedule: Equatable, Sendable {
    let policy: SchedulePolicy
    private var nextFlush: Duration?
    private var events: Int64 = 0
    private var bytes = ByteCount.zero
    private var criticalDue: Duration?
    private var isAsked = false

    /// What was stored before is sent at once, unless somebody has to ask for it.
    init(_ policy: SchedulePolicy, now: Duration) {
        self.policy = policy
        nextFlush = policy.isManual ? nil : now
    }

    /// A segment appeared.
    mutating func stored(_ priority: Priority, events: Int64, bytes: ByteCount, at now: Duration) {
        self.events.add(events)
        self.bytes += bytes
        if priority == .critical, let delay = policy.criticalDelay { criticalDue = min(criticalDue ?? now + delay, now + delay) }
        let isEnough =
            policy.events.map { self.events >= $0 } ?? false || policy.bytes.map { self.bytes >= $0 } ?? false
        if isEnough, !policy.isManual { nextFlush = min(nextFlush ?? now, now) }
    }

    /// A segment that was to be sent could not be taken in hand then, and can now: it waits for no threshold and nobody's asking again.
    mutating func missedTurn(at now: Duration) { nextFlush = min(nextFlush ?? now, now) }

    /// The spool was away, and is back: what it holds is sent at once, as at the start.
    mutating func rejoined(at now: Duration) {
        if !policy.isManual { nextFlush = now }
    }

    /// Somebody asked for everything to be sent.
    mutating func ask() { isAsked = true }

    /// Everything that might leave has left.
    mutating func drained(at now: Duration) {
        switch gate(at: now) {
        case .closed: return
        case .critical: break
        case .open:
            isAsked = false
            events = 0
            bytes = .zero
            nextFlush = policy.isManual ? nil : now + policy.interval
        }
        criticalDue = nil
    }

    func gate(at now: Duration) -> LaneGate {
        if isAsked || nextFlush.map({ $0 <= now }) ?? false { return .open }
        return criticalDue.map { $0 <= now } ?? false ? .critical : .closed
    }

    /// When the gate opens further by itself.
    func nextChange(after now: Duration) -> Duration? { [nextFlush, criticalDue].compactMap { $0 }.filter { $0 > now }.min() }
}
