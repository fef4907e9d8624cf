import FerrySpool
import Testing

@testable import ferry

@Suite("How far a command is, on a line")
struct ProgressLineTests {
    private func amount(_ count: Int64, _ bytes: Int64) -> ProgressLine.Amount { .init(count: count, bytes: ByteCount(bytes)) }

    private let line = ProgressLine(verb: "sent", total: .init(count: 10, bytes: ByteCount(8000)))

    private func text(_ line: ProgressLine, _ done: ProgressLine.Amount, left: Duration? = .seconds(6), columns: Int? = nil)
        -> String
    {
        line.text(done, rate: ByteCount(1000), left: left, columns: columns)
    }

    @Test(
        "The wider the terminal, the more stands there, and always less than a line",
        arguments: [
            (120, "sent [#####---------------] 25 %, 3 of 10 segments, 2.0 kB of 8.0 kB, 1.0 kB/s, 6 s left"),
            (80, "sent [##--------] 25 %, 3 of 10 segments, 2.0 kB of 8.0 kB, 1.0 kB/s, 6 s left"),
            (70, "sent [##--------] 25 %, 3 of 10, 2.0 kB of 8.0 kB, 1.0 kB/s, 6 s left"),
            (60, "sent [#----] 25 %, 2.0 kB of 8.0 kB, 1.0 kB/s, 6 s left"),
            (40, "sent [#----] 25 %, 1.0 kB/s, 6 s left"),
            (30, "sent [#----] 25 %, 6 s left"), (20, "sent [#----] 25 %"), (12, "sent 25 %"), (5, "sent"), (1, ""), (0, ""),
        ])
    func widths(columns: Int, expected: String) { #expect(text(line, amount(3, 2000), columns: columns) == expected) }

    @Test("No terminal is too narrow for any line", arguments: [nil, 0, 3000, Int64.max])
    func fits(total: Int64?) {
        for columns in 1...130 {
            for done in [amount(0, 0), amount(3, 2000), amount(.max - 1, .max - 1)] {
                let line = ProgressLine(verb: "acknowledged", total: total.map { amount($0, $0) })
                for left in [nil, Duration.seconds(1), .seconds(Int64(1) << 40)] {
                    #expect(text(line, done, left: left, columns: columns).count < columns)
                }
            }
        }
    }

    @Test("A line of its own has everything but the bar")
    func plain() {
        #expect(text(line, amount(3, 2000)) == "sent 25 %, 3 of 10 segments, 2.0 kB of 8.0 kB, 1.0 kB/s, 6 s left")
    }

    @Test("Where more came than was there, or it is not known how much there is, no share is told")
    func unknown() {
        for total in [nil, amount(0, 0), amount(2, 9000), amount(9, 1000)] {
            let line = ProgressLine(verb: "checked", total: total)
            #expect(text(line, amount(3, 2000), columns: 80) == "checked 3 segments, 2.0 kB, 1.0 kB/s")
            #expect(text(line, amount(3, 2000), columns: 20) == "checked 3 segments")
        }
    }

    @Test("Where only the bytes are known, or only the number, the share is of these")
    func half() {
        let bytes = ProgressLine(verb: "read", unit: .event, total: amount(0, 8000))
        #expect(text(bytes, amount(3, 2000)) == "read 25 %, 3 events, 2.0 kB of 8.0 kB, 1.0 kB/s, 6 s left")
        let count = ProgressLine(verb: "hashed", total: amount(4, 0))
        #expect(text(count, amount(3, 2000)) == "hashed 75 %, 3 of 4 segments, 2.0 kB, 1.0 kB/s, 6 s left")
    }

    @Test(
        "The time that is left reads well, however long it is",
        arguments: [
            (.milliseconds(1), "1 s left"), (.milliseconds(1200), "2 s left"), (.seconds(59), "59 s left"),
            (.seconds(70), "1 min 10 s left"), (.seconds(7500), "2 h 5 min left"), (.seconds(86_400 * 3), "3 d left"),
            (.seconds(86_400 * 20_000), "over 30 d left"), (nil, "1.0 kB/s"),
        ] as [(Duration?, String)])
    func left(time: Duration?, expected: String) { #expect(text(line, amount(3, 2000), left: time).hasSuffix(expected)) }

    @Test("At the end nothing is left")
    func end() { #expect(!text(line, amount(10, 8000)).contains("left")) }
}
