import FerrySpool
import Testing

@testable import FerryUpload

@Suite("A spool whose lanes cannot be used is held")
struct SpoolHoldTests {
    private let start = Timestamp(rfc3339: "2026-11-27T12:00:00Z")!

    @Test("for longer each time, a minute at most")
    func waits() {
        var now = start
        var hold = SpoolHold("a", at: now)
        var waits: [Duration] = []
        for _ in 0..<8 {
            waits.append(hold.until - now)
            now = hold.until
            hold.failed("b", at: now)
        }
        #expect(waits == [5, 10, 20, 40, 60, 60, 60, 60].map { .seconds($0) })
        #expect(hold.why == "b")
    }

    @Test("once for what was begun together")
    func together() {
        var hold = SpoolHold("a", at: start)
        hold.failed("b", at: start + .seconds(1))
        #expect(hold.until == start + .seconds(5))
        #expect(hold.why == "a")
    }

    @Test("until it is asked for by hand")
    func asked() {
        var hold = SpoolHold("a", at: start)
        hold.end(at: start + .seconds(1))
        #expect(hold.isOver(at: start + .seconds(1)))
    }

    @Test("not for longer where the clock is set back")
    func clock() {
        let hold = SpoolHold("a", at: start)
        #expect(!hold.isOver(at: start + .seconds(4)))
        #expect(hold.isOver(at: start + .seconds(5)))
        #expect(hold.isOver(at: start - .seconds(3600)))
    }
}
