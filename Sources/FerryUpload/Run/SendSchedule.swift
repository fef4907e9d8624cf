import FerrySpool

/// When the segments of one spool may leave: the decision, without a clock. Times are since any fixed moment, by a clock that only goes forward.
struct SendSchedule: Equatable, Sendable {
    let policy: SchedulePolicy
    private(set) var isAsked = false

    init(_ policy: SchedulePolicy) { self.policy = policy }

    /// What becomes of a segment that appears.
    enum Place: Equatable {
        case queue
        case hold(until: Duration, isUrgent: Bool)
    }

    /// Returns where a segment that appears goes.
    ///
    /// - Parameter age: How old its oldest event is.
    func place(_ priority: Priority, age: Duration, at now: Duration) -> Place {
        // The clock may have been set since.
        let age = max(.zero, age)
        if priority == .critical, let delay = policy.criticalDelay {
            return age >= delay ? .queue : .hold(until: now + delay - age, isUrgent: true)
        }
        // What was not asked for waits behind its gate.
        if !policy.gathers { return .queue }
        return .hold(until: now + max(.zero, policy.interval - age), isUrgent: false)
    }

    /// Returns which of the held segments may leave; `nil`: none more.
    mutating func release(_ held: HeldSegments, at now: Duration) -> HeldSegments.Share? {
        if isAsked {
            if !policy.isManual { isAsked = false }
            return held.isEmpty ? nil : .all
        }
        let isUrgent = isEnough(held.urgent) || held.urgentDue.map { $0 <= now } ?? false
        let isOrdinary = isEnough(held.ordinary) || held.ordinaryDue.map { $0 <= now } ?? false
        return isUrgent ? isOrdinary ? .all : .urgent : isOrdinary ? .ordinary : nil
    }

    /// Returns whether any of them may leave.
    func wouldRelease(_ held: HeldSegments, at now: Duration) -> Bool {
        var copy = self
        return copy.release(held, at: now) != nil
    }

    /// Returns whether an amount reaches a threshold. Critical segments with a delay of their own are counted by themselves, as App Center's SDK does
    /// in its two channels.
    private func isEnough(_ held: HeldSegments.Amount) -> Bool {
        if policy.isManual { return false }
        return policy.countsEvents && policy.events.map { held.events >= $0 } ?? false
            || policy.bytes.map { held.bytes >= $0 } ?? false
    }

    /// Releases everything at once, as it was asked for.
    mutating func ask() { isAsked = true }

    /// Notes that a segment could not be sent when it was asked for, and can now: it need not be asked for again.
    mutating func missedTurn() { if policy.isManual { isAsked = true } }

    /// Notes that everything has left that may.
    mutating func drained() { isAsked = false }

    /// What may leave of what is held no longer.
    var gate: SendGate {
        if !policy.isManual || isAsked { return .open }
        return policy.criticalDelay == nil ? .closed : .critical
    }
}
