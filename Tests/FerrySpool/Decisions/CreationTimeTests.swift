import FerrySpool
import TestSupport
import Testing

@Suite("Dating segments without a right clock")
struct CreationTimeTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let boot = Timestamp(milliseconds: 12_345)

    private func date(_ reading: Timestamp, _ earlier: Timestamp...) -> CreationTime {
        CreationTime(reading: reading, after: earlier)
    }

    @Test("A right clock is taken as it is, and segments of one millisecond follow one another")
    func right() {
        #expect(date(now).created == now)
        #expect(date(now, now - .seconds(1)).created == now)
        #expect(date(now, now).created == now + .milliseconds(1))
        #expect(date(now, now).clock == nil)
    }

    @Test("A clock that starts in 1970 follows what was published before, however long ago, and its own reading is told")
    func boots() {
        #expect(date(boot).created == boot)
        #expect(date(boot, now).created == now + .milliseconds(1))
        #expect(date(boot, now).clock == boot)
    }

    @Test("A clock that is set back by up to a day is followed by none; by more than a day, it had been wrong before")
    func setBack() {
        let day = Duration.seconds(86_400)
        #expect(date(now, now + .seconds(3600)).created == now + .seconds(3600) + .milliseconds(1))
        #expect(date(now, now + .seconds(3600)).clock == now)
        #expect(date(now, now + day).created == now + day + .milliseconds(1))
        #expect(date(now, now + day + .milliseconds(1)).created == now)
        #expect(date(now, now + day + .milliseconds(1)).clock == nil)
    }

    @Test("A clock that was a year ahead and is mended starts the order anew, after what was published before it went wrong")
    func mended() {
        let ahead = now + .seconds(86_400 * 365)
        #expect(date(now, ahead).created == now)
        #expect(date(now, ahead, now + .seconds(5)).created == now + .seconds(5) + .milliseconds(1))
    }

    @Test("The end of the calendar stops nothing")
    func endOfTime() {
        #expect(date(boot, .distantFuture).created == boot)
        #expect(date(boot, .distantFuture - .milliseconds(1)).created == .distantFuture)
    }

    @Test("Random histories of clocks: never before what was published, unless a clock that was a day ahead is mended")
    func histories() {
        var generator = Seeded(seed: 17)
        for _ in 0..<500 {
            var clock = now
            var latest: Timestamp?
            for _ in 0..<100 {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: clock = boot
                case 1: clock = clock - .seconds(Int.random(in: 0...90_000, using: &generator))
                case 2: clock = now + .seconds(Int.random(in: 0...200_000, using: &generator))
                case 3: clock = now + .seconds(86_400 * 365)
                default: clock = clock + .milliseconds(Int.random(in: 0...50, using: &generator))
                }
                let time = CreationTime(reading: clock, after: latest.map { [$0] } ?? [])
                if let latest, time.created <= latest {
                    #expect(clock >= RetentionLimits.earliestCredibleTime)
                    #expect(latest - clock > CreationTime.longestLead)
                }
                if clock >= RetentionLimits.earliestCredibleTime {
                    #expect(time.created - clock <= CreationTime.longestLead + .milliseconds(1))
                }
                #expect(time.created >= clock)
                latest = time.created
            }
        }
    }
}
