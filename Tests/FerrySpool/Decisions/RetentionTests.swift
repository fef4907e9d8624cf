import FerrySpool
import Foundation
import Testing

@Suite("Retention")
struct RetentionTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func candidate(_ priority: Int, ageInHours: Int, _ size: Int64 = 10) -> EvictionPlan.Candidate {
        .init(priority: Priority(priority)!, created: now - .seconds(ageInHours * 3600), size: ByteCount(size))
    }

    @Test("Without limits nothing is dropped")
    func noLimits() {
        let plan = EvictionPlan(candidates: [candidate(9, ageInHours: 100_000)], limits: .init(), now: now)
        #expect(plan.expired.isEmpty)
        #expect(plan.evicted.isEmpty)
    }

    @Test("Over the size limit the oldest of the lowest priority go first")
    func evictionOrder() {
        let candidates = [
            candidate(0, ageInHours: 9), candidate(5, ageInHours: 8), candidate(5, ageInHours: 2), candidate(9, ageInHours: 3),
            candidate(9, ageInHours: 1),
        ]
        let plan = EvictionPlan(candidates: candidates, limits: .init(maxBytes: ByteCount(20)), now: now)
        #expect(plan.evicted == [3, 4, 1, 2, 0])
        #expect(plan.remaining == ByteCount(50))
    }

    @Test("What is larger than the limit by itself goes before everything else, the lowest priority and the oldest first")
    func oversized() {
        let candidates = [
            candidate(0, ageInHours: 9, 30), candidate(5, ageInHours: 8), candidate(5, ageInHours: 2, 21),
            candidate(5, ageInHours: 1, 20), candidate(9, ageInHours: 3),
        ]
        let plan = EvictionPlan(candidates: candidates, limits: .init(maxBytes: ByteCount(20)), now: now)
        #expect(plan.evicted == [2, 0, 4, 1, 3])
        #expect(plan.oversized == 2)
        let cautious = EvictionPlan(
            candidates: candidates, limits: .init(maxBytes: ByteCount(20)), now: now, atMost: .normal)
        #expect(cautious.evicted == [2, 4, 1, 3])
        #expect(cautious.oversized == 1)
    }

    @Test("Exactly at the limit nothing is dropped; sidecars and wanted room count")
    func limitIsInclusive() {
        let candidates = [candidate(5, ageInHours: 1)]
        #expect(EvictionPlan(candidates: candidates, limits: .init(maxBytes: ByteCount(10)), now: now).evicted.isEmpty)
        #expect(
            EvictionPlan(candidates: candidates, limits: .init(maxBytes: ByteCount(10)), overhead: ByteCount(1), now: now).evicted
                == [0])
    }

    @Test("A producer evicts only what is not above its own priority")
    func producerRespectsPriority() {
        let candidates = [candidate(0, ageInHours: 1), candidate(5, ageInHours: 1), candidate(9, ageInHours: 1)]
        let plan = EvictionPlan(
            candidates: candidates, limits: .init(maxBytes: ByteCount(5)), now: now, atMost: Priority(5)!)
        #expect(plan.evicted == [2, 1])
        let urgentOnly = EvictionPlan(
            candidates: [candidate(0, ageInHours: 1)], limits: .init(maxBytes: ByteCount(5)), now: now, atMost: .normal)
        #expect(urgentOnly.evicted.isEmpty)
    }

    @Test("Older than the age limit expires; exactly as old does not; unset clocks and an untrusted clock expire nothing")
    func expiry() {
        let unset = EvictionPlan.Candidate(
            priority: .normal, created: Timestamp(rfc3339: "1970-01-01T00:10:00Z")!, size: ByteCount(1))
        let candidates = [unset, candidate(5, ageInHours: 25), candidate(5, ageInHours: 24), candidate(5, ageInHours: -30)]
        let limits = RetentionLimits(maxAge: .seconds(86_400))
        #expect(EvictionPlan(candidates: candidates, limits: limits, now: now).expired == [1])
        #expect(EvictionPlan(candidates: candidates, limits: limits, now: nil).expired.isEmpty)
    }

    @Test("A clock that goes with the time since boot is trusted, and at the first look no clock is")
    func steadyClock() {
        let first = ClockJumpDetector(previous: nil, reading: reading(boot: 0, wall: now))
        #expect(first.trustedNow == nil)
        let later = ClockJumpDetector(previous: first, reading: reading(boot: 7_200_000, wall: now + .seconds(7201)))
        #expect(later.trustedNow == now + .seconds(7201))
    }

    @Test("What a clock dated that was behind, and was set right, is as old as the time since says, and nothing else is moved")
    func misdated() {
        let behind = now - .seconds(60 * 86_400)
        let first = ClockJumpDetector(previous: nil, reading: reading(boot: 600_000, wall: behind))
        let jumped = ClockJumpDetector(previous: first, reading: reading(boot: 1_200_000, wall: now))
        let settled = ClockJumpDetector(previous: jumped, reading: reading(boot: 4_800_000, wall: now + .seconds(3600)))
        #expect(settled.trustedNow == now + .seconds(3600))
        let moved = Duration.seconds(60 * 86_400 - 600)
        #expect(settled.best(behind + .seconds(300)) == behind + .seconds(300) + moved)
        #expect(settled.best(behind - .seconds(3600)) == behind - .seconds(3600))
        #expect(settled.best(now + .seconds(1800)) == now + .seconds(1800))
        // A second step in the same boot moves it again, the next boot does not.
        let later = ClockJumpDetector(previous: settled, reading: reading(boot: 4_860_000, wall: now + .seconds(90_000)))
        #expect(later.best(behind) > settled.best(behind))
        // Ahead for a while, and right again: nothing is moved for it.
        let ahead = ClockJumpDetector(previous: settled, reading: reading(boot: 4_860_000, wall: now + .seconds(3_000_000_000)))
        let right = ClockJumpDetector(previous: ahead, reading: reading(boot: 4_920_000, wall: now + .seconds(3720)))
        #expect(abs((right.best(behind) - settled.best(behind)).wholeMilliseconds) <= 600_000)
        #expect(abs((right.best(now + .seconds(600)) - (now + .seconds(600))).wholeMilliseconds) <= 600_000)
        var next = reading(boot: 0, wall: now + .seconds(200_000))
        next.bootID = "another"
        #expect(ClockJumpDetector(previous: later, reading: next).best(behind) == later.best(behind))
    }

    @Test("What a clock dated that was behind stays young when the clock is behind once more, and right again")
    func misdatedTwice() {
        let behind = now - .seconds(60 * 86_400)
        var watch = ClockJumpDetector(previous: nil, reading: reading(boot: 600_000, wall: behind))
        watch = ClockJumpDetector(previous: watch, reading: reading(boot: 1_200_000, wall: now))
        let once = watch.best(behind)
        watch = ClockJumpDetector(previous: watch, reading: reading(boot: 7_800_000, wall: behind))
        watch = ClockJumpDetector(previous: watch, reading: reading(boot: 7_860_000, wall: now + .seconds(6660)))
        #expect(abs((watch.best(behind - .seconds(60)) - once).wholeMilliseconds) <= 7_200_000)
    }

    @Test("What was dated before this boot began, in this boot, was dated by a clock that was behind")
    func datedBeforeTheBoot() {
        var watch = ClockJumpDetector(previous: nil, reading: reading(boot: 600_000, wall: now))
        let behind = now - .seconds(60 * 86_400)
        watch.note(dated: behind)
        #expect(watch.best(behind) == now)
        #expect(watch.best(behind - .seconds(599)) == now - .seconds(599))
        #expect(watch.best(behind - .seconds(601)) == behind - .seconds(601))
        let ordinary = now - .seconds(800)
        watch.note(dated: ordinary)
        #expect(watch.best(ordinary) == ordinary)
    }

    @Test(
        "After a jump forward or back nothing expires until the clock was steady for an hour", arguments: [86_400 * 365, -86_400])
    func jump(seconds: Int) {
        let first = settled(boot: 7_200_000)
        let jumped = now + .seconds(seconds)
        let afterJump = ClockJumpDetector(previous: first, reading: reading(boot: 7_201_000, wall: jumped))
        #expect(afterJump.trustedNow == nil)
        let halfHour = ClockJumpDetector(previous: afterJump, reading: reading(boot: 9_001_000, wall: jumped + .seconds(1800)))
        #expect(halfHour.trustedNow == nil)
        let hour = ClockJumpDetector(previous: halfHour, reading: reading(boot: 10_801_000, wall: jumped + .seconds(3600)))
        #expect(hour.trustedNow == jumped + .seconds(3600))
        // Set right again within the hour: that is a jump as well.
        let corrected = ClockJumpDetector(previous: halfHour, reading: reading(boot: 9_002_000, wall: now + .seconds(1802)))
        #expect(corrected.trustedNow == nil)
    }

    @Test("After a reboot the last time that is borne out and the time since the first look go for certain, for an hour")
    func reboot() {
        let first = settled(boot: 7_200_000)
        for ahead in [120, 80_000, 86_400 * 365] {
            let wall = now + .seconds(ahead)
            let after = ClockJumpDetector(previous: first, reading: reading("b", boot: 60_000, wall: wall))
            #expect(after.trustedNow == now, "\(ahead) s ahead")
            let half = ClockJumpDetector(previous: after, reading: reading("b", boot: 1_860_000, wall: wall + .seconds(1800)))
            #expect(half.trustedNow == now + .seconds(1800), "\(ahead) s ahead")
            let hour = ClockJumpDetector(previous: half, reading: reading("b", boot: 3_660_000, wall: wall + .seconds(3600)))
            #expect(hour.trustedNow == wall + .seconds(3600), "\(ahead) s ahead")
        }
        let behind = ClockJumpDetector(previous: first, reading: reading("b", boot: 60_000, wall: now - .seconds(10)))
        #expect(behind.trustedNow == now - .seconds(10))
        #expect(
            ClockJumpDetector(previous: first, reading: reading("b", boot: 10, wall: now - .seconds(86_400))).trustedNow == nil)
    }

    @Test("Another machine's clock that is ahead is not trusted at its first look, however long the machine is up")
    func otherMachine() {
        let first = settled(boot: 7_200_000)
        let other = ClockJumpDetector(
            previous: first, reading: reading("b", boot: 300 * 86_400_000, wall: now + .seconds(10 * 86_400)))
        #expect(other.trustedNow == now)
    }

    @Test(
        "Boots whose first looks show the same wrong time, hours apart, do not bear each other out",
        arguments: [2, 3, 12], [true, false])
    func sameWrongTime(boots: Int, isSettled: Bool) {
        let ahead = 10 * 86_400
        var watch = isSettled ? settled(boot: 7_200_000) : nil
        for boot in 0..<boots {
            watch = ClockJumpDetector(
                previous: watch, reading: reading("b\(boot)", boot: 40_000, wall: now + .seconds(ahead + boot * 7200)))
            #expect(watch?.trustedNow == (isSettled ? now : nil), "boot \(boot)")
        }
    }

    @Test("A clock that jumps ahead by days in boot after boot is not gone by at once")
    func everFurther() {
        var watch = settled(boot: 7_200_000)
        for boot in 1...4 {
            watch = ClockJumpDetector(
                previous: watch, reading: reading("b\(boot)", boot: 40_000, wall: now + .seconds(boot * 10 * 86_400)))
            #expect(watch.trustedNow == now, "boot \(boot)")
        }
    }

    @Test("A clock in local time at each start, set right after the look, drops nothing too early", arguments: [1, 24])
    func localTime(looksADay: Int) throws {
        var watch: ClockJumpDetector?
        for look in 0..<(30 * looksADay) {
            let time = now + .seconds(look * 86_400 / looksADay)
            watch = ClockJumpDetector(
                previous: watch, reading: reading("\(look)", boot: 40_000, wall: time + .seconds(14 * 3600)))
            #expect(watch?.trustedNow.map { $0 <= time } ?? true, "look \(look)")
        }
        #expect(try #require(watch?.trustedNow) > now + .seconds(23 * 86_400))
    }

    @Test("A clock that is wrong after a reboot and set right within the hour is never gone by")
    func wrongAfterReboot() {
        let wrong = ClockJumpDetector(
            previous: settled(boot: 7_200_000), reading: reading("b", boot: 60_000, wall: now + .seconds(80_000)))
        let right = ClockJumpDetector(previous: wrong, reading: reading("b", boot: 90_000, wall: now + .seconds(400)))
        #expect(right.trustedNow == nil)
    }

    @Test(
        "A machine that looks at its clock once in each boot goes by a time of some looks before, however long it was off",
        arguments: [1, 30])
    func onceABoot(days: Int) {
        var watch: ClockJumpDetector?
        var trusted: [Timestamp?] = []
        for boot in 0..<8 {
            watch = ClockJumpDetector(
                previous: watch, reading: reading("\(boot)", boot: 60_000, wall: now + .seconds(boot * days * 86_400)))
            trusted.append(watch?.trustedNow)
        }
        #expect(trusted == [nil, nil, nil] + [0, 0, 2, 2, 4].map { now + .seconds($0 * days * 86_400) })
    }

    @Test("A machine that is never up for an hour settles within days, unless the clock is set back meanwhile")
    func shortBoots() throws {
        var watch: ClockJumpDetector?
        var wall = now
        var boots = 0
        while watch?.trustedNow == nil, boots < 200 {
            boots += 1
            watch = ClockJumpDetector(previous: watch, reading: reading("\(boots)", boot: 10_000, wall: wall))
            watch = ClockJumpDetector(previous: watch, reading: reading("\(boots)", boot: 1_510_000, wall: wall + .seconds(1500)))
            wall = wall + .seconds(3000)
        }
        #expect(try #require(watch?.trustedNow) <= now + .seconds(1500))
        #expect(wall - now < .seconds(3 * 86_400 + 7200))
        let back = ClockJumpDetector(previous: watch, reading: reading("back", boot: 10_000, wall: now))
        #expect(back.trustedNow == nil)
    }

    @Test("Two machines that look at one spool in turn settle within days")
    func inTurn() throws {
        var watch: ClockJumpDetector?
        for look in 0...240 {
            let uptime = look % 2 == 0 ? 900_000_000 : 5_000_000
            let time = now + .seconds(look * 1800)
            watch = ClockJumpDetector(
                previous: watch,
                reading: reading(look % 2 == 0 ? "a" : "b", boot: Int64(uptime + look * 1_800_000), wall: time))
            if look < 144 { #expect(watch?.trustedNow == nil, "look \(look)") }
        }
        #expect(try #require(watch?.trustedNow) == now)
    }

    @Test("Looks that are written down the other way round are one clock's")
    func otherWayRound() throws {
        let later = ClockJumpDetector(previous: nil, reading: reading(boot: 1005, wall: now + .milliseconds(5)))
        let earlier = ClockJumpDetector(previous: later, reading: reading(boot: 1000, wall: now))
        #expect(try JSONDecoder().decode(ClockJumpDetector.self, from: JSONEncoder().encode(earlier)) == earlier)
    }

    /// After two hours of looks.
    private func settled(boot sinceBoot: Int64) -> ClockJumpDetector {
        let first = ClockJumpDetector(previous: nil, reading: reading(boot: sinceBoot - 7_200_000, wall: now - .seconds(7200)))
        return ClockJumpDetector(previous: first, reading: reading(boot: sinceBoot, wall: now))
    }

    private func reading(_ boot: String = "a", boot sinceBoot: Int64, wall: Timestamp) -> ClockJumpDetector.Reading {
        .init(bootID: boot, sinceBoot: sinceBoot, wall: wall)
    }
}
