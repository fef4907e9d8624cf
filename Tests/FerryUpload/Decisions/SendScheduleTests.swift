import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("When a spool's segments are sent")
struct SendScheduleTests {
    /// A spool with its schedule, as a running uploader has them.
    private struct Sending {
        var schedule: SendSchedule
        var held = HeldSegments()
        private var stored = 0

        init(_ policy: SchedulePolicy) { schedule = SendSchedule(policy) }

        /// Returns the segment's number, and whether it may leave at once.
        @discardableResult
        mutating func store(
            _ priority: Priority = .normal, events: Int64 = 1, bytes: Int64 = 10, age: Duration = .zero, at seconds: Double
        ) -> Bool {
            stored += 1
            let now = Duration.seconds(seconds)
            let place = schedule.place(priority, age: age, at: now)
            guard case .hold(let due, let isUrgent) = place else { return true }
            held.add(.init("\(stored)", priority, bytes), events: events, until: due, isUrgent: isUrgent)
            return false
        }

        /// What leaves at a moment, by number.
        mutating func leaving(at seconds: Double) -> [String] {
            guard let share = schedule.release(held, at: .seconds(seconds)) else { return [] }
            return held.release(share).map(\.name).sorted()
        }
    }

    @Test("The interval counts from the oldest event that waits, and then everything leaves")
    func interval() {
        var sending = Sending(SchedulePolicy(interval: .seconds(6)))
        // The journal was begun 4 s ago.
        sending.store(age: .seconds(4), at: 10)
        sending.store(at: 11)
        #expect(sending.leaving(at: 11.999).isEmpty)
        #expect(sending.held.ordinaryDue == .seconds(12))
        #expect(sending.leaving(at: 12) == ["1", "2"])
        sending.store(at: 13)
        #expect(sending.leaving(at: 18.999).isEmpty)
        #expect(sending.leaving(at: 19) == ["3"])
    }

    @Test("What is older than the interval when it appears leaves at once; what comes from the future waits for the interval")
    func ages() {
        var sending = Sending(SchedulePolicy(interval: .seconds(6)))
        sending.store(age: .seconds(86_400), at: 10)
        #expect(sending.leaving(at: 10) == ["1"])
        sending.store(age: .seconds(-86_400), at: 10)
        #expect(sending.leaving(at: 15.999).isEmpty)
        #expect(sending.leaving(at: 16) == ["2"])
    }

    @Test("A threshold of events or bytes releases everything before the interval, and counts anew afterwards")
    func thresholds() {
        var sending = Sending(SchedulePolicy(interval: .seconds(60), events: 100, bytes: .kibibytes(64)))
        sending.store(events: 99, at: 1)
        #expect(sending.leaving(at: 1).isEmpty)
        sending.store(at: 2)
        #expect(sending.leaving(at: 2) == ["1", "2"])
        sending.store(events: 99, at: 3)
        #expect(sending.leaving(at: 3).isEmpty)
        sending.store(events: 0, bytes: 65_536, at: 4)
        #expect(sending.leaving(at: 4) == ["3", "4"])
    }

    @Test("A threshold counts what waits, critical segments with a time of their own by themselves, and none that has left")
    func thresholdWithCritical() {
        var sending = Sending(SchedulePolicy(interval: .seconds(60), events: 50, criticalDelay: .seconds(3)))
        // Bursts of ten, each of which leaves in its time: the fifth is no earlier than the others.
        for burst in 0..<12 {
            let start = Double(burst * 4)
            sending.store(.critical, events: 10, at: start)
            #expect(sending.leaving(at: start + 2.999).isEmpty)
            #expect(sending.leaving(at: start + 3) == ["\(burst + 1)"])
        }
        sending.store(.critical, events: 20, at: 100)
        sending.store(events: 49, at: 100)
        #expect(sending.leaving(at: 101).isEmpty)
        sending.store(at: 101)
        #expect(sending.leaving(at: 101) == ["14", "15"])
        sending.store(.critical, events: 30, at: 102)
        #expect(sending.leaving(at: 102) == ["13", "16"])
    }

    @Test("With a threshold of one event each segment leaves as it appears, and critical ones have their delay")
    func atOnce() {
        var sending = Sending(SchedulePolicy(interval: .seconds(60), events: 1, criticalDelay: .seconds(3)))
        let critical = sending.store(.critical, at: 7)
        let normal = sending.store(at: 7)
        #expect(!critical)
        #expect(normal)
        #expect(sending.leaving(at: 9).isEmpty)
        #expect(sending.leaving(at: 10) == ["1"])
    }

    @Test(
        "Critical segments leave when their oldest event is as old as their delay, and take nobody along",
        arguments: [Duration.seconds(120), .zero, .seconds(-1)])
    func critical(_ interval: Duration) {
        var sending = Sending(SchedulePolicy(interval: interval, criticalDelay: .seconds(3)))
        sending.store(at: 10)
        sending.store(.critical, age: .seconds(2), at: 12)
        sending.store(.critical, at: 12)
        #expect(sending.leaving(at: 12.999).isEmpty)
        #expect(sending.leaving(at: 13) == ["2", "3"])
        #expect(sending.schedule.gate == (interval > .zero ? .open : .critical))
    }

    @Test("Normal segments take no critical ones along before their time, nor do these wait for the interval of the others")
    func normalBesideCritical() {
        var sending = Sending(SchedulePolicy(interval: .seconds(6), criticalDelay: .seconds(3)))
        sending.store(at: 0)
        sending.store(.critical, at: 5)
        #expect(sending.leaving(at: 6) == ["1"])
        #expect(sending.leaving(at: 8) == ["2"])
    }

    @Test("Zero or a negative interval: only when asked", arguments: [Duration.zero, .seconds(-5)])
    func manual(_ interval: Duration) {
        var schedule = SendSchedule(SchedulePolicy(interval: interval, events: 1, criticalDelay: nil))
        let place = schedule.place(.critical, age: .zero, at: .seconds(1))
        #expect(place == .queue)
        #expect(schedule.gate == .closed)
        schedule.ask()
        _ = schedule.release(HeldSegments(), at: .seconds(2))
        #expect(schedule.gate == .open)
        schedule.drained()
        #expect(schedule.gate == .closed)
        // One that missed its turn is not asked for again.
        schedule.missedTurn()
        #expect(schedule.gate == .open)
    }

    @Test("Who asks gets what is held, once")
    func asked() {
        var sending = Sending(SchedulePolicy(interval: .seconds(60), criticalDelay: .seconds(3)))
        sending.store(at: 1)
        sending.store(.critical, at: 1)
        sending.schedule.ask()
        #expect(sending.leaving(at: 1) == ["1", "2"])
        sending.store(at: 2)
        #expect(sending.leaving(at: 2).isEmpty)
    }

    @Test("A flush is obeyed once: not again by the next process, and not for another change")
    func flushOnce() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        var state = RunState(RunOptions(upload: upload, schedule: SchedulePolicy(interval: .zero, criticalDelay: nil)))
        let now = Moment(wall: Timestamp(rfc3339: "2026-11-21T12:00:00Z")!, steady: .zero)
        var control = SpoolControl()
        control.flushRequestedAt = now.wall - .seconds(60)
        state.add(control)
        #expect(state.spools[0].schedule.gate == .closed)
        control.isPaused = true
        let isAskedByPause = state.setControl(control, of: 0)
        control.flushRequestedAt = now.wall
        let isAsked = state.setControl(control, of: 0)
        let isAskedAgain = state.setControl(control, of: 0)
        #expect(!isAskedByPause)
        #expect(isAsked)
        #expect(!isAskedAgain)
        #expect(state.spools[0].schedule.gate == .open)
    }

    @Test("What was stored before a flush and published since leaves at once for half a minute, whatever is done to the clock")
    func flushAndClock() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        var state = RunState(RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60))))
        state.add(SpoolControl())
        let flush = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        var control = SpoolControl()
        control.flushRequestedAt = flush
        _ = state.setControl(control, of: 0, at: Moment(wall: flush, steady: .seconds(100)))
        let spool = state.spools[0]
        for jump in [0, -7200, 7200] {
            func at(_ seconds: Int) -> Moment {
                Moment(wall: flush + .seconds(seconds + jump), steady: .seconds(100 + seconds))
            }
            #expect(spool.wasAskedFor(flush - .seconds(1), at: at(2)))
            #expect(!spool.wasAskedFor(flush - .seconds(1), at: at(31)))
            #expect(!spool.wasAskedFor(flush + .seconds(1), at: at(2)))
        }
    }

    @Test("A flush of before this process is as old as the clock says, and of no use where it is to come")
    func flushBefore() throws {
        let upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        var state = RunState(RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60))))
        let flush = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        var control = SpoolControl()
        control.flushRequestedAt = flush
        state.add(control)
        let asked = [-7200, 2, 31].map {
            state.spools[0].wasAskedFor(flush - .seconds(1), at: Moment(wall: flush + .seconds($0), steady: .zero))
        }
        #expect(asked == [false, true, false])
    }
}

extension SpoolQueue.Newcomer {
    fileprivate init(_ name: String, _ priority: Priority, _ bytes: Int64) {
        let entry = SpoolListing.Entry(
            priority: priority, created: .distantPast, nameStart: 0, nameLength: 0, isForeign: false, size: ByteCount(bytes))
        self.init(found: FoundSegment(name: name, entry: entry), hasSidecar: false, missedTurn: false)
    }
}

@Suite("What a running uploader does about a destination that is misconfigured")
struct MisconfigurationTests {
    @Test("However soon a request fails again when a wait is over, the next one waits for the next back-off")
    func waitsAgain() throws {
        var upload = UploadOptions(destination: try DestinationURL("http://hub/"))
        upload.backOff = BackOff(intervals: [.seconds(10), .seconds(60)], jitter: 1...1, failuresAllowed: .max)
        var state = RunState(RunOptions(upload: upload, schedule: SchedulePolicy(interval: .seconds(60))))
        var delivery = DeliveryState([], options: upload, breaker: CircuitBreaker(upload), isContinuous: true)
        var generator = Seeded(seed: 1)
        let reason = Verdict.Reason(kind: "status", status: 401, message: "HTTP 401")
        func at(_ seconds: Int) -> Moment {
            Moment(wall: Timestamp(rfc3339: "2026-11-21T12:00:00Z")! + .seconds(seconds), steady: .seconds(seconds))
        }
        delivery.stop(.misconfigured(reason))
        #expect(state.update(&delivery, at: at(0), using: &generator) == .seconds(10))
        #expect(delivery.plan.stopReason != nil)
        _ = state.update(&delivery, at: at(10), using: &generator)
        #expect(delivery.plan.stopReason == nil)
        // The answer is there before the next look.
        delivery.stop(.misconfigured(reason))
        #expect(state.update(&delivery, at: at(10), using: &generator) == .seconds(70))
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
