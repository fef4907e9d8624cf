import FerrySpool
import Testing

@testable import FerryUpload

@Suite("When a spool's segments are sent")
struct SendScheduleTests {
    private func schedule(_ policy: SchedulePolicy) -> SendSchedule {
        var schedule = SendSchedule(policy, now: .zero)
        schedule.drained(at: .zero)
        return schedule
    }

    private func store(
        _ schedule: inout SendSchedule, _ priority: Priority = .normal, events: Int64 = 1, bytes: Int64 = 10, at seconds: Int
    ) {
        schedule.stored(priority, events: events, bytes: ByteCount(bytes), at: .seconds(seconds))
    }

    @Test("A segment that missed its turn does not wait for the others, even where everything waits for somebody to ask")
    func missedTurn() {
        for interval in [Duration.zero, .seconds(3600)] {
            var schedule = SendSchedule(SchedulePolicy(interval: interval, events: 20), now: .zero)
            schedule.ask()
            schedule.drained(at: .zero)
            schedule.stored(.normal, events: 1, bytes: .zero, at: .seconds(1))
            let before = schedule.gate(at: .seconds(1))
            schedule.missedTurn(at: .seconds(2))
            #expect(before == .closed && schedule.gate(at: .seconds(2)) == .open)
            schedule.drained(at: .seconds(2))
            #expect(schedule.gate(at: .seconds(3)) == .closed)
        }
    }

    @Test("What was stored before the start leaves at once; then the interval counts")
    func interval() {
        var schedule = SendSchedule(SchedulePolicy(interval: .seconds(120)), now: .zero)
        #expect(schedule.gate(at: .zero) == .open)
        schedule.drained(at: .seconds(1))
        store(&schedule, at: 2)
        #expect(schedule.gate(at: .seconds(120)) == .closed && schedule.gate(at: .seconds(121)) == .open)
        #expect(schedule.nextChange(after: .seconds(2)) == .seconds(121))
    }

    @Test("A threshold of events or bytes opens before the interval, and counts anew afterwards")
    func thresholds() {
        var schedule = schedule(SchedulePolicy(interval: .seconds(60), events: 100, bytes: .kibibytes(64)))
        store(&schedule, events: 99, at: 1)
        #expect(schedule.gate(at: .seconds(1)) == .closed)
        store(&schedule, events: 1, at: 2)
        #expect(schedule.gate(at: .seconds(2)) == .open)
        schedule.drained(at: .seconds(3))
        store(&schedule, events: 99, at: 4)
        #expect(schedule.gate(at: .seconds(4)) == .closed)
        store(&schedule, events: 0, bytes: 65_536, at: 5)
        #expect(schedule.gate(at: .seconds(5)) == .open)
    }

    @Test("With a threshold of one event each segment leaves as it appears")
    func atOnce() {
        var schedule = schedule(SchedulePolicy(interval: .seconds(60), events: 1))
        store(&schedule, at: 7)
        #expect(schedule.gate(at: .seconds(7)) == .open)
    }

    @Test(
        "Critical segments leave after their delay and take nobody along",
        arguments: [Duration.seconds(120), .zero, .seconds(-1)])
    func critical(_ interval: Duration) {
        var schedule = schedule(SchedulePolicy(interval: interval, criticalDelay: .seconds(3)))
        store(&schedule, at: 10)
        store(&schedule, .critical, at: 10)
        store(&schedule, .critical, at: 12)
        #expect(schedule.gate(at: .milliseconds(12_999)) == .closed)
        #expect(schedule.gate(at: .seconds(13)) == .critical)
        schedule.drained(at: .seconds(13))
        #expect(schedule.gate(at: .seconds(14)) == .closed)
    }

    @Test("Zero or a negative interval: only when asked", arguments: [Duration.zero, .seconds(-5)])
    func manual(_ interval: Duration) {
        var schedule = SendSchedule(SchedulePolicy(interval: interval, events: 1, criticalDelay: nil), now: .zero)
        store(&schedule, .critical, at: 1)
        #expect(schedule.gate(at: .seconds(100_000)) == .closed && schedule.nextChange(after: .zero) == nil)
        schedule.ask()
        #expect(schedule.gate(at: .seconds(100_001)) == .open)
        schedule.drained(at: .seconds(100_002))
        #expect(schedule.gate(at: .seconds(100_003)) == .closed)
    }

    @Test("A flush is obeyed once: not again by the next process, and not for another change")
    func flushOnce() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        var state = RunState(RunOptions(upload: upload, schedule: SchedulePolicy(interval: .zero, criticalDelay: nil)))
        let now = Moment(wall: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, steady: .zero)
        var control = SpoolControl()
        control.flushRequestedAt = now.wall - .seconds(60)
        state.add(control, at: now)
        #expect(state.spools[0].schedule.gate(at: .zero) == .closed)
        control.isPaused = true
        let isAskedByPause = state.setControl(control, of: 0)
        control.flushRequestedAt = now.wall
        let isAsked = state.setControl(control, of: 0)
        let isAskedAgain = state.setControl(control, of: 0)
        #expect(!isAskedByPause && isAsked && !isAskedAgain)
        #expect(state.spools[0].schedule.gate(at: .zero) == .open)
    }
}

@Suite("What a running uploader does about a destination that is misconfigured")
struct MisconfigurationTests {
    @Test("However soon a request fails again when a wait is over, the next one waits for the next back-off")
    func waitsAgain() throws {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.backOff = BackOff(intervals: [.seconds(10), .seconds(60)], jitter: 1...1, failuresAllowed: .max)
        var state = RunState(RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60))))
        var delivery = DeliveryState([], options: upload, health: DestinationHealth(upload), isContinuous: true, now: { .now() })
        let reason = Verdict.Reason(kind: "status", status: 401, message: "HTTP 401")
        func at(_ seconds: Int) -> Moment {
            Moment(wall: Timestamp(rfc3339: "2026-11-21T12:00:00Z")! + .seconds(seconds), steady: .seconds(seconds))
        }
        delivery.stop(.misconfigured(reason))
        #expect(state.update(&delivery, at: at(0)) == .seconds(10))
        #expect(delivery.plan.stopReason != nil)
        _ = state.update(&delivery, at: at(10))
        #expect(delivery.plan.stopReason == nil)
        // The answer is there before the next look.
        delivery.stop(.misconfigured(reason))
        #expect(state.update(&delivery, at: at(10)) == .seconds(70))
        #expect(delivery.plan.stopReason != nil)
    }
}

@Suite("Which interfaces may be used")
struct NetworkPolicyTests {
    @Test(
        "A modem only when it is allowed; everything else unless it is denied",
        arguments: [
            ([], ["ww*"], "wwan0", false), ([], ["ww*"], "eth0", true), (["wwan0"], ["ww*"], "wwan0", true),
            (["wwan0"], ["ww*"], "wwan1", false), (["eth0"], ["*"], "eth0", true), (["eth0"], ["*"], "eth1", false),
            ([], [], "wwan0", true), ([], ["w?an0"], "wwan0", false), ([], ["*an*"], "wwan0", false), ([], [""], "wwan0", true),
        ] as [([String], [String], String, Bool)])
    func permits(_ allow: [String], _ deny: [String], _ name: String, _ isPermitted: Bool) {
        var policy = NetworkPolicy()
        policy.allow = allow
        policy.deny = deny
        #expect(policy.permits(name) == isPermitted)
    }
}
