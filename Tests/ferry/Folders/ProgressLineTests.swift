import FerrySpool
import Testing

@testable import ferry

@Suite("How far a command is, on a line")
struct ProgressLineTests {
    private func amount(_ segments: Int64, _ bytes: Int64) -> ProgressLine.Amount {
        .init(segments: segments, bytes: ByteCount(bytes))
    }

    @Test("The line has a bar, the share of the bytes, the rate and the time that is left")
    func whole() {
        let line = ProgressLine(verb: "sent", total: amount(10, 8000))
        #expect(
            line.text(amount(3, 2000), after: .seconds(2), hasBar: true)
                == "sent [#####---------------] 25 %, 3 of 10 segments, 2.0 kB of 8.0 kB, 1.0 kB/s, 6.0 s left")
        #expect(
            line.text(amount(3, 2000), after: .seconds(2), hasBar: false)
                == "sent 25 %, 3 of 10 segments, 2.0 kB of 8.0 kB, 1.0 kB/s, 6.0 s left")
    }

    @Test("Within the first second no time is foretold")
    func early() {
        let line = ProgressLine(verb: "sent", total: amount(10, 8000))
        #expect(!line.text(amount(1, 80), after: .milliseconds(500), hasBar: false).contains("left"))
    }

    @Test("Where more came than was there, or it is not known how much there is, no share is told")
    func unknown() {
        for total in [nil, amount(0, 0), amount(3, 2000), amount(2, 9000)] {
            let line = ProgressLine(verb: "checked", total: total)
            #expect(line.text(amount(3, 2000), after: .seconds(1), hasBar: true) == "checked 3 segments, 2.0 kB, 2.0 kB/s")
        }
    }

    @Test("Sizes and times that cannot be end nothing")
    func extremes() {
        let line = ProgressLine(verb: "sent", total: amount(.max, .max))
        #expect(line.text(amount(0, 0), after: .zero, hasBar: true).hasPrefix("sent [--------------------] 0 %, 0 of "))
        #expect(line.text(amount(1, 1), after: .seconds(Int64(1) << 40), hasBar: true).contains(" left"))
        #expect(line.text(amount(.max - 1, .max - 1), after: .zero, hasBar: true).hasPrefix("sent [####################] 100 %"))
    }
}
