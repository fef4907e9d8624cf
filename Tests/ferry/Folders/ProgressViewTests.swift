import FerrySpool
import Testing

@testable import ferry

@Suite("What is shown of a command as time goes")
struct ProgressViewTests {
    private func amount(_ count: Int64, _ bytes: Int64) -> ProgressLine.Amount { .init(count: count, bytes: ByteCount(bytes)) }

    private func view(_ total: ProgressLine.Amount?, showsStandstill: Bool = true) -> ProgressView {
        ProgressView(
            ProgressLine(verb: "sent", total: total), counted: amount(5, 500), at: .seconds(100), showsStandstill: showsStandstill
        )
    }

    @Test("What was counted before the work, and the time before it, are none of it")
    func base() {
        var view = view(amount(10, 10_000))
        #expect(
            view.text(amount(6, 1500), at: .seconds(101), columns: nil)
                == "sent 10 %, 1 of 10 segments, 1.0 kB of 10 kB, 1.0 kB/s, 9 s left")
    }

    @Test("A line comes although nothing has happened since the last one, and foretells nothing then")
    func standstill() {
        var view = view(amount(10, 10_000))
        for seconds in [110, 120, 600] {
            let text = view.text(amount(5, 500), at: .seconds(seconds), columns: nil)
            #expect(text == "sent 0 %, 0 of 10 segments, 0 B of 10 kB, 0 B/s")
        }
    }

    @Test("Where nothing may come for long, only what came has a line; on a terminal it stands there all the same")
    func waiting() {
        var view = view(nil, showsStandstill: false)
        #expect(view.text(amount(5, 500), at: .seconds(110), columns: nil) == nil)
        #expect(view.text(amount(6, 1500), at: .seconds(120), columns: nil) == "sent 1 segment, 1.0 kB, 50 B/s")
        #expect(view.text(amount(6, 1500), at: .seconds(130), columns: nil) == nil)
        #expect(view.text(amount(6, 1500), at: .seconds(130), columns: 80) == "sent 1 segment, 1.0 kB, 33 B/s")
    }

    @Test("What turns out to be more or less changes the total")
    func revised() {
        var view = view(amount(10, 10_000))
        view.revise(by: amount(-5, -5000))
        #expect(view.text(amount(6, 1500), at: .seconds(100), columns: nil) == "sent 20 %, 1 of 5 segments, 1.0 kB of 5.0 kB")
    }

    @Test("What is still to do comes to what is done: several spools have one bar")
    func expected() {
        var view = view(amount(2, 3000))
        view.expect(amount(1, 1000), after: amount(8, 3500))
        #expect(view.text(amount(8, 3500), at: .seconds(100), columns: nil) == "sent 75 %, 3 of 4 segments, 3.0 kB of 4.0 kB")
        view.expect(nil, after: amount(8, 3500))
        #expect(view.text(amount(8, 3500), at: .seconds(100), columns: nil) == "sent 3 segments, 3.0 kB")
    }

    @Test("The rate is of the last half minute: an outage is seen, and what is left is foretold by what goes on now")
    func rate() {
        var rate = RecentRate()
        for second in 1...100 { rate.note(amount(0, Int64(second) * 1000), after: .seconds(second)) }
        #expect(rate.bytes == ByteCount(1000))
        #expect(rate.left(of: amount(0, 110_000)) == .seconds(10))
        for second in 101...140 { rate.note(amount(0, 100_000), after: .seconds(second)) }
        #expect(rate.bytes == .zero)
        #expect(rate.left(of: amount(0, 110_000)) == nil)
        rate.note(amount(0, 103_000), after: .seconds(141))
        #expect(rate.bytes == ByteCount(100))
        #expect(rate.left(of: amount(0, 110_000)) == .seconds(70))
    }

    @Test("Nothing is foretold within the first second, nor below zero, nor beyond what numbers hold")
    func extremes() {
        var rate = RecentRate()
        rate.note(amount(0, 1000), after: .milliseconds(900))
        #expect(rate.bytes == nil)
        #expect(rate.left(of: amount(0, 5000)) == nil)
        rate.note(amount(1, 1), after: .seconds(Int64(1) << 40))
        #expect(rate.left(of: amount(.max, .max)) == .seconds(1_000_000_000))
        #expect(rate.left(of: amount(0, 0)) == nil)
        rate.note(amount(.max, .max), after: .seconds(Int64(1) << 41))
        #expect(rate.left(of: amount(3, 5)) == nil)
        rate.note(amount(.min, .min), after: .seconds(Int64(1) << 42))
        #expect(rate.bytes == .zero)
    }
}
