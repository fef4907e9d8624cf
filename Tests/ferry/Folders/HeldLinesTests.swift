import Testing

@testable import ferry

@Suite("Lines that are held back")
struct HeldLinesTests {
    private struct Count: HeldAmount, Equatable {
        var number = 0
        init() {}
        init(_ number: Int) { self.number = number }
        mutating func add(_ other: Count) { number += other.number }
    }

    private let start = ContinuousClock.now

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("The first of a kind is told at once, the next ones together when the time is over")
    func one() {
        var lines = HeldLines<String, Count>(.seconds(60))
        #expect(lines.next("a", Count(1), at: at(0)) == Count(1))
        #expect(lines.next("b", Count(5), at: at(1)) == Count(5))
        #expect(lines.next("a", Count(2), at: at(1)) == nil)
        #expect(lines.next("a", Count(3), at: at(59)) == nil)
        #expect(lines.over(all: false, at: at(59)).isEmpty)
        let over = lines.over(all: false, at: at(60))
        #expect(over.map(\.kind) == ["a"])
        #expect(over.map(\.amount) == [Count(5)])
        #expect(lines.next("a", Count(1), at: at(61)) == nil)
        #expect(lines.over(all: true, at: at(62)).map(\.amount) == [Count(1)])
    }

    @Test("What comes when the time is over is told with what was held back")
    func late() {
        var lines = HeldLines<String, Count>(.seconds(60))
        _ = lines.next("a", Count(1), at: at(0))
        #expect(lines.next("a", Count(1), at: at(30)) == nil)
        #expect(lines.next("a", Count(1), at: at(70)) == Count(2))
        #expect(lines.over(all: true, at: at(70)).isEmpty)
    }

    @Test("What goes on for a day is told ever more seldom, and hourly in the end; after an hour without it, it is new")
    func outage() {
        var lines = HeldLines<String, Count>(.seconds(60), upTo: .seconds(3600))
        var told = 0
        for second in stride(from: 0, to: 86_400, by: 20) {
            if lines.next("a", Count(1), at: at(second)) != nil { told += 1 }
            told += lines.over(all: false, at: at(second)).count
        }
        #expect((24...36).contains(told), "\(told)")
        #expect(lines.over(all: true, at: at(86_400)).count == 1)
        #expect(lines.next("a", Count(1), at: at(86_400 + 3700)) == Count(1))
        #expect(lines.next("a", Count(1), at: at(86_400 + 3701)) == nil)
        #expect(lines.over(all: false, at: at(86_400 + 3761)).count == 1)
    }

    @Test("However many kinds there are, those above the limit have one line together")
    func many() {
        var lines = HeldLines<Int, Count>(.seconds(60), mostKinds: 10)
        var told = 0
        for second in 0..<600 {
            for kind in 0..<100 where lines.next(second * 100 + kind, Count(1), at: at(second)) != nil { told += 1 }
            told += lines.over(all: false, at: at(second)).count
        }
        #expect(told <= 10 * (10 + 1) + 10)
        let rest = lines.over(all: true, at: at(600))
        #expect(rest.map(\.kind) == [nil])
    }
}
