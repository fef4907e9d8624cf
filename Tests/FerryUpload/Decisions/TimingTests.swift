import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

private func time(_ text: String) -> Timestamp { Timestamp(rfc3339: text)! }

@Suite("Deadlines", .enabled(if: hasTimeZones, "needs tzdata"))
struct DueTimeTests {
    private func deadline(_ zone: String, _ clock: String = "04:00") throws -> DueTime {
        DueTime(time: DayTime(parsing: clock)!, zone: try Zone(named: zone))
    }

    @Test("Data of a local day must arrive by the time of the next")
    func moment() throws {
        let saoPaulo = try deadline("America/Sao_Paulo")
        #expect(saoPaulo.moment(for: time("2026-11-21T12:00:00Z")) == time("2026-11-22T07:00:00Z"))
        // 23:30 there.
        #expect(saoPaulo.moment(for: time("2026-11-22T02:30:00Z")) == time("2026-11-22T07:00:00Z"))
        #expect(saoPaulo.moment(for: time("2026-11-22T03:00:00Z")) == time("2026-11-23T07:00:00Z"))
    }

    @Test("The deadline goes with the zone's clocks when they change")
    func daylightSaving() throws {
        let berlin = try deadline("Europe/Berlin")
        #expect(berlin.moment(for: time("2026-03-28T12:00:00Z")) == time("2026-03-29T02:00:00Z"))
        #expect(berlin.moment(for: time("2026-03-27T12:00:00Z")) == time("2026-03-28T03:00:00Z"))
        #expect(berlin.moment(for: time("2026-10-24T12:00:00Z")) == time("2026-10-25T03:00:00Z"))
        let skipped = try deadline("Europe/Berlin", "02:30")
        #expect(skipped.moment(for: time("2026-03-28T12:00:00Z")) == time("2026-03-29T01:00:00Z"))
        #expect(skipped.moment(for: time("2026-10-24T12:00:00Z")) == time("2026-10-25T00:30:00Z"))
    }

    @Test("What is late, what is due next, and when")
    func standing() throws {
        let saoPaulo = try deadline("America/Sao_Paulo")
        let before = saoPaulo.standing(at: time("2026-11-22T06:59:59Z"))
        #expect(before.lateBefore == time("2026-11-21T03:00:00Z"))
        #expect(before.dueBefore == time("2026-11-22T03:00:00Z"))
        #expect(before.next == time("2026-11-22T07:00:00Z"))
        let after = saoPaulo.standing(at: time("2026-11-22T07:00:00Z"))
        #expect(after.lateBefore == time("2026-11-22T03:00:00Z"))
        #expect(after.dueBefore == time("2026-11-23T03:00:00Z"))
        #expect(after.next == time("2026-11-23T07:00:00Z"))
    }

    @Test(
        "At any moment, late is exactly what missed its own deadline",
        arguments: ["Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia"])
    func consistent(_ name: String) throws {
        var generator = Seeded(seed: 12)
        for clock in ["00:00", "02:30", "04:00", "24:00"] {
            let deadline = try deadline(name, clock)
            for _ in 0..<500 {
                let now = Timestamp(milliseconds: .random(in: 1_200_000_000_000..<1_900_000_000_000, using: &generator))
                let standing = deadline.standing(at: now)
                for _ in 0..<10 {
                    let created = now - .seconds(.random(in: 0..<400_000, using: &generator))
                    #expect((created < standing.lateBefore) == (deadline.moment(for: created) <= now))
                    if created >= standing.lateBefore, created < standing.dueBefore {
                        #expect(deadline.moment(for: created) == standing.next)
                    }
                }
            }
        }
    }
}

@Suite("Upload windows")
struct UploadWindowTests {
    private func windows(_ text: String, _ zone: String = "UTC") throws -> UploadWindows {
        try #require(UploadWindows(parsing: text, zone: try Zone(named: zone)))
    }

    @Test("A window over midnight belongs to the day on which it begins")
    func overMidnight() throws {
        let windows = try windows("mon-fri 20:00-06:00, sat-sun")
        // 2026-11-21 is a Saturday.
        #expect(try windows.isOpen(at: time("2026-11-21T05:00:00Z")))
        #expect(try windows.isOpen(at: time("2026-11-22T23:59:00Z")))
        #expect(try !windows.isOpen(at: time("2026-11-23T05:00:00Z")))
        #expect(try windows.isOpen(at: time("2026-11-24T05:59:59Z")))
        #expect(windows.nextChange(after: time("2026-11-23T05:00:00Z")) == time("2026-11-23T20:00:00Z"))
        #expect(windows.nextChange(after: time("2026-11-20T21:00:00Z")) == time("2026-11-23T00:00:00Z"))
    }

    @Test("The zone's clocks count, also on the day they change", .enabled(if: hasTimeZones, "needs tzdata"))
    func zone() throws {
        let windows = try windows("01:00-03:00", "Europe/Berlin")
        #expect(windows.isOpen(at: time("2026-11-21T00:00:00Z")))
        #expect(!windows.isOpen(at: time("2026-11-21T02:00:00Z")))
        // 2:00 to 3:00 is skipped: the window is an hour shorter.
        #expect(windows.isOpen(at: time("2026-03-29T00:59:00Z")))
        #expect(!windows.isOpen(at: time("2026-03-29T01:00:00Z")))
    }

    @Test("Always open never changes")
    func always() throws { #expect(try windows("mon-sun").nextChange(after: time("2026-11-21T00:00:00Z")) == nil) }

    @Test(
        "Other texts are refused",
        arguments: ["", "22:00", "25:00-06:00", "mon-xyz 01:00-02:00", "mon tue 01:00-02:00", "01:00-01:00"])
    func invalid(_ text: String) { #expect(UploadWindows(parsing: text, zone: .utc) == nil) }
}

@Suite("Bandwidth")
struct BandwidthTests {
    @Test("A timetable's entry holds until the next, over midnight too")
    func timetable() throws {
        let table = try #require(BandwidthTimetable(parsing: "08:00 100KB, 19:00 off", zone: .utc))
        #expect(table.limit(at: time("2026-11-21T08:00:00Z")) == ByteCount(100_000))
        #expect(table.limit(at: time("2026-11-21T18:59:59Z")) == ByteCount(100_000))
        #expect(table.limit(at: time("2026-11-21T19:00:00Z")) == nil)
        #expect(table.limit(at: time("2026-11-21T03:00:00Z")) == nil)
        #expect(table.nextChange(after: time("2026-11-21T20:00:00Z")) == time("2026-11-22T08:00:00Z"))
        let constant = try #require(BandwidthTimetable(parsing: "500KB/s", zone: .utc))
        #expect(constant.limit(at: time("2026-11-21T08:00:00Z")) == ByteCount(500_000))
        #expect(constant.nextChange(after: time("2026-11-21T20:00:00Z")) == nil)
    }

    @Test("Other texts are refused", arguments: ["", "fast", "08:00", "100KB, 200KB", "08:00 1B", "08:00 1MB, 08:00 2MB"])
    func invalid(_ text: String) { #expect(BandwidthTimetable(parsing: text, zone: .utc) == nil) }

    @Test("However the pieces come, every five seconds carry the limit within a tenth, and no more")
    func smooth() {
        var generator = Seeded(seed: 2)
        for limit in [5_000, 100_000, 10_000_000] as [Int64] {
            var pacer = Pacer(limit: ByteCount(limit))
            var now = Duration.zero
            var windows: [Int: Int64] = [:]
            while now < .seconds(60) {
                let size = ByteCount(.random(in: 1...pacer.piece.bytes, using: &generator))
                now += pacer.wait(for: size, now: now)
                windows[Int(now.inSeconds / 5), default: 0] += size.bytes
            }
            for window in 0..<11 {
                #expect(abs(Double(windows[window]!) / Double(limit * 5) - 1) < 0.1)
            }
        }
    }

    @Test("A pause saves nothing up")
    func pause() {
        var pacer = Pacer(limit: ByteCount(1000))
        _ = pacer.wait(for: ByteCount(1000), now: .zero)
        #expect(pacer.wait(for: ByteCount(1000), now: .seconds(100)) == .zero)
        #expect(pacer.wait(for: ByteCount(1), now: .seconds(100)) > .milliseconds(900))
    }
}

@Suite("A time-boxed delivery")
struct TimeLimitBudgetTests {
    @Test("Nothing is started when less than the margin is left")
    func margin() {
        let start = Duration.zero
        let budget = TimeLimitBudget(time: .seconds(180), margin: nil, now: start)
        #expect(budget.allows(.zero, now: start + .seconds(149)))
        #expect(!budget.allows(.zero, now: start + .seconds(151)))
        let short = TimeLimitBudget(time: .seconds(20), margin: nil, now: start)
        #expect(short.allows(.zero, now: start + .seconds(14)))
        #expect(!short.allows(.zero, now: start + .seconds(16)))
    }

    @Test("A request that would take longer than what is left, by what the others took, is not started")
    func pace() {
        let start = Duration.zero
        var budget = TimeLimitBudget(time: .seconds(100), margin: .zero, now: start)
        budget.observe(.mebibytes(10), events: 100, took: .seconds(10))
        #expect(budget.allows(.mebibytes(50), now: start + .seconds(40)))
        #expect(!budget.allows(.mebibytes(70), now: start + .seconds(40)))
        #expect(!budget.allows(ByteCount(1), now: start + .seconds(95)))
    }

    @Test("Of a segment that goes out in parts one request has to arrive in time")
    func parts() {
        let start = Duration.zero
        var budget = TimeLimitBudget(time: .seconds(100), margin: .zero, now: start)
        // 10 KiB and 0.1 s an event.
        budget.observe(.mebibytes(1), events: 100, took: .seconds(10))
        let later = start + .seconds(40)
        #expect(!budget.allows(.mebibytes(70), now: later))
        #expect(budget.allows(.mebibytes(70), cutTo: RequestLimits(events: 500), now: later))
        #expect(!budget.allows(.mebibytes(70), cutTo: RequestLimits(events: 700), now: later))
        #expect(budget.allows(.mebibytes(70), cutTo: RequestLimits(bytes: .mebibytes(5)), now: later))
        #expect(!budget.allows(.mebibytes(70), cutTo: RequestLimits(bytes: .mebibytes(7)), now: later))
        #expect(budget.allows(.mebibytes(5), cutTo: RequestLimits(events: 700), now: later))
    }

    @Test("Small requests tell how long the bytes of those take that are not much larger")
    func slowLink() {
        let start = Duration.zero
        var budget = TimeLimitBudget(time: .seconds(8), margin: .zero, now: start)
        for _ in 0..<10 { budget.observe(ByteCount(5_200), events: 10, took: .milliseconds(500)) }
        #expect(!budget.allows(ByteCount(50_800), now: start + .milliseconds(5_300)))
        #expect(budget.allows(ByteCount(20_000), now: start + .milliseconds(5_300)))
    }

    @Test("Segments go out together up to what arrives in time by the pace of the others")
    func joined() {
        let start = Duration.zero
        var budget = TimeLimitBudget(time: .seconds(100), margin: .zero, now: start)
        #expect(budget.most(now: start) == nil)
        budget.observe(.mebibytes(1), events: 100, took: .seconds(10))
        let later = start + .seconds(40)
        #expect(budget.most(now: later) == .mebibytes(6))
        #expect(budget.allows(.mebibytes(6), now: later))
        #expect(!budget.allows(.mebibytes(6) + ByteCount(1), now: later))
        // A request that carries less by itself is not cut.
        #expect(budget.most(cutTo: RequestLimits(events: 500), now: later) == nil)
        #expect(budget.most(cutTo: RequestLimits(events: 700), now: later) == .mebibytes(6))
        #expect(budget.most(now: start + .seconds(200)) == .zero)
    }

    @Test("What small requests tell joins no more than they tell of")
    func joinedSmall() {
        let start = Duration.zero
        var budget = TimeLimitBudget(time: .seconds(8), margin: .zero, now: start)
        for _ in 0..<10 { budget.observe(ByteCount(5_000), events: 10, took: .milliseconds(500)) }
        #expect((19_999...20_001).contains(budget.most(now: start + .seconds(6))?.bytes ?? 0))
        // So much could be sent that nothing is known of.
        #expect(budget.most(now: start - .seconds(100)) == nil)
    }

    @Test("Whatever was observed: what may go out together is allowed, and hardly more is")
    func joinedProperty() {
        var generator = Seeded(seed: 11)
        let start = Duration.zero
        for _ in 0..<500 {
            var budget = TimeLimitBudget(time: .seconds(60), margin: .zero, now: start)
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                budget.observe(
                    ByteCount(Int64.random(in: 1...2_000_000, using: &generator)),
                    events: Int64.random(in: 1...500, using: &generator),
                    took: .milliseconds(Int.random(in: 1...9_000, using: &generator)))
            }
            let now = start + .milliseconds(Int.random(in: 0...50_000, using: &generator))
            guard let most = budget.most(now: now), budget.allows(ByteCount(1), now: now) else { continue }
            #expect(budget.allows(most, now: now))
            #expect(!budget.allows(most + most + ByteCount(2), now: now) || most.bytes < 1 << 20)
        }
    }

    @Test("A small request tells how long one takes, and not how long many more bytes take")
    func small() {
        let start = Duration.zero
        var budget = TimeLimitBudget(time: .seconds(100), margin: .zero, now: start)
        budget.observe(ByteCount(200), events: 1, took: .seconds(2))
        #expect(budget.allows(.mebibytes(1), now: start + .seconds(90)))
        #expect(!budget.allows(.mebibytes(1), now: start + .seconds(99)))
    }
}
