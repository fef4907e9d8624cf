import TestSupport
import Testing

@testable import FerrySpool

@Suite("The history of a spool: a ring of minutes")
struct HistoryTests {
    private static let minute = HistoryMinute(Timestamp(rfc3339: "2026-11-21T03:00:00Z")!)

    private static func step(_ seconds: Int?, _ bytes: Int64 = 0) -> HistoryStep {
        HistoryStep(oldest: seconds.map { .seconds($0) }, bytes: ByteCount(bytes))
    }

    @Test("Every 12 bits are a step, and stay the same bits")
    func everyStep() {
        for bits in 0..<UInt16(1 << 12) { #expect(HistoryStep(bits: bits).bits == bits) }
    }

    @Test("What a level stands for has that level, and a higher number never a lower one")
    func levels() {
        for level in UInt8(2)..<64 {
            #expect(HistoryScale.age.level(of: HistoryScale.age.value(of: level)) == level)
        }
        for level in UInt8(1)..<64 {
            #expect(HistoryScale.bytes.level(of: HistoryScale.bytes.value(of: level)) == level)
        }
        let numbers = [-1, 0, 1e-9, 9, 10, 11, 60, 3600, 1e5, 1e7, 1e12, 1e300, .infinity]
        let levels = numbers.map { HistoryScale.age.level(of: $0) }
        #expect(levels == levels.sorted())
        #expect(levels.first == 2)
        #expect(levels.last == 63)
        #expect(HistoryScale.age.level(of: .nan) == 2)
    }

    @Test("An age is kept to within an eighth", arguments: [15, 60, 600, 3600, 86_400, 2_592_000])
    func precision(seconds: Int) {
        guard case .about(let age) = Self.step(seconds).age else {
            Issue.record("no age")
            return
        }
        #expect(abs(age.inSeconds / Double(seconds) - 1) < 0.125)
    }

    @Test("Nothing pending, and nothing known, are two things")
    func nothing() {
        #expect(Self.step(nil).age == .none)
        #expect(HistoryStep.unknown.age == .unknown)
        #expect(Self.step(-60).age != .none)
    }

    @Test("A week of a hundred machines has less than 2 MB")
    func size() {
        #expect(SpoolHistory.capacity == 10_080)
        #expect(SpoolHistory.size * 100 < 2_000_000)
        // In blocks of a disk, too.
        #expect((SpoolHistory.size + 4095) / 4096 * 4096 * 100 < 2_000_000)
        #expect(SpoolHistory(at: Self.minute).bytes.count == SpoolHistory.size)
    }

    @Test("Steps of any minutes are kept for a week, through a file and back")
    func property() {
        var random = Seeded(seed: 15)
        for _ in 0..<20 {
            var history = SpoolHistory(at: Self.minute)
            var model: [HistoryMinute: HistoryStep] = [:]
            var minute = Self.minute
            for _ in 0..<300 {
                // Mostly the next minute; now and then a pause, a step back, or the same again.
                let distance = [1, 1, 1, 1, 1, 0, 2, 500, -1, -30, 9000, 20_000, -20_000].randomElement(using: &random)!
                minute = minute + distance
                let step = HistoryStep(bits: UInt16.random(in: 0..<1 << 12, using: &random))
                let before = history
                history.note(step, at: minute)
                model = model.filter { $0.key <= minute }
                model[minute] = model[minute].map { $0.joined(step) } ?? step
                model = model.filter { minute - $0.key < Int64(SpoolHistory.capacity) }
                #expect(patched(before, with: history) == history.bytes)
            }
            #expect(SpoolHistory(history.bytes) == history)
            for offset in 0..<SpoolHistory.capacity {
                let at = minute + -offset
                #expect(history[at] == model[at] ?? .unknown)
            }
            #expect(history[minute + 1] == .unknown)
            #expect(history[minute + -SpoolHistory.capacity] == .unknown)
        }
    }

    /// What is written of a change makes the file the new one.
    private func patched(_ before: SpoolHistory, with after: SpoolHistory) -> [UInt8] {
        var bytes = before.bytes
        for change in after.changes(since: before) {
            bytes.replaceSubrange(Int(change.offset)..<Int(change.offset) + change.bytes.count, with: change.bytes)
        }
        return bytes
    }

    @Test("Bytes that are no history are none, and those that are one are steps, whichever they are")
    func hostile() {
        var random = Seeded(seed: 16)
        let sound = SpoolHistory(at: Self.minute).bytes
        for size in [0, 1, 23, 24, SpoolHistory.size - 1, SpoolHistory.size, SpoolHistory.size + 1] {
            let bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(SpoolHistory(bytes) == nil)
            #expect(SpoolHistory(Array(sound.prefix(min(size, SpoolHistory.size - 1)))) == nil)
        }
        #expect(SpoolHistory(sound + [0]) == nil)
        for index in 0..<24 {
            var torn = sound
            torn[index] ^= 0x80
            #expect(SpoolHistory(torn) == nil)
        }
        let noise = Array(sound.prefix(24)) + (24..<SpoolHistory.size).map { _ in UInt8.random(in: 0...255, using: &random) }
        let history = SpoolHistory(noise)
        #expect(history != nil)
        for offset in -10..<SpoolHistory.capacity + 10 { _ = history?[Self.minute + -offset].age }
    }

    @Test("Minutes at both ends of the calendar are steps like others", arguments: [Timestamp.distantPast, .distantFuture])
    func ends(of time: Timestamp) {
        var history = SpoolHistory(at: Self.minute)
        history.note(Self.step(60), at: HistoryMinute(time))
        #expect(history[HistoryMinute(time)] == Self.step(60))
        #expect(SpoolHistory(history.bytes) == history)
        history.note(Self.step(nil), at: Self.minute)
        #expect(history[Self.minute] == Self.step(nil))
    }

    @Test("A minute of two processes has the larger numbers")
    func twice() {
        var history = SpoolHistory(at: Self.minute)
        history.note(Self.step(600, 0), at: Self.minute)
        history.note(Self.step(nil, 5000), at: Self.minute)
        #expect(history[Self.minute] == Self.step(600, 5000))
    }

    @Test("A clock that is set by more than minutes notes nothing until it went on steadily")
    func clock() {
        var clock = HistoryClock()
        let (wall, begin) = (Self.minute.start, ContinuousClock.now)
        #expect(clock.minute(wall, begin) == Self.minute)
        #expect(clock.minute(wall + .seconds(70), begin + .seconds(60)) == Self.minute + 1)
        #expect(clock.minute(wall + .seconds(1_000_000), begin + .seconds(120)) == nil)
        #expect(clock.minute(wall + .seconds(180), begin + .seconds(180)) == nil)
        #expect(clock.minute(wall + .seconds(720), begin + .seconds(720)) == nil)
        #expect(clock.minute(wall + .seconds(780), begin + .seconds(780)) == Self.minute + 13)
    }

    @Test("A pause of the machine is no jump of the clock")
    func pause() {
        var clock = HistoryClock()
        let (wall, begin) = (Self.minute.start, ContinuousClock.now)
        _ = clock.minute(wall, begin)
        #expect(clock.minute(wall + .seconds(86_400), begin + .seconds(86_400)) == Self.minute + 1440)
    }
}
