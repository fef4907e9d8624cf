import FerrySpool
import Testing

/// What people see of sizes, durations and times: short, without a sign that a mistake left, and never a trap, for each number that there is.
@Suite("Sizes, durations and times for people, at both ends")
struct ReadableTests {
    /// The ends, each power of two and of ten with its neighbours, and many in between.
    private static let numbers: [Int64] = {
        var numbers: Set<Int64> = [.min, .max, 0]
        for power in 0..<63 { for near in -1...1 as ClosedRange<Int64> { numbers.insert((1 << power) + near) } }
        var ten: Int64 = 1
        for _ in 0..<19 {
            for factor in [1, 9, 9949, 9950, 9994, 9995] as [Int64] {
                let (product, overflow) = ten.multipliedReportingOverflow(by: factor)
                if !overflow { numbers.formUnion([product, product - 1, -product]) }
            }
            ten = ten.multipliedReportingOverflow(by: 10).partialValue
        }
        var state: UInt64 = 42
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            numbers.insert(Int64(bitPattern: state >> (state % 60)))
        }
        return numbers.sorted()
    }()

    @Test(
        "Sizes at their borders",
        arguments: [
            (0, "0 B"), (1, "1 B"), (999, "999 B"), (1000, "1.0 kB"), (9_949, "9.9 kB"), (9_950, "10 kB"), (999_499, "999 kB"),
            (999_500, "1.0 MB"), (1_000_000_000_000_000, "1.0 PB"), (.max, "9.2 EB"), (-1, "-1 B"), (-5000, "-5.0 kB"),
            (.min, "-9.2 EB"),
        ] as [(Int64, String)])
    func sizes(bytes: Int64, text: String) { #expect(ByteCount(bytes).description == text) }

    @Test("Each size has three digits at most, grows with its number, and can be read again")
    func everySize() throws {
        var last = -Double.infinity
        for number in Self.numbers where number >= 0 {
            let text = ByteCount(number).description
            let parts = text.split(separator: " ")
            #expect(parts.count == 2 && parts[0].count(where: \.isNumber) <= 3, "\(number): \(text)")
            let read = try #require(ByteCount(parsing: text) ?? (number > 8_900_000_000_000_000_000 ? ByteCount(number) : nil))
            #expect(Double(read.bytes) >= last, "\(number): \(text)")
            #expect(abs(Double(read.bytes) - Double(number)) <= Double(number) * 0.06, "\(number): \(text)")
            last = Double(read.bytes)
        }
    }

    @Test(
        "Durations at their borders",
        arguments: [
            (0, "0 ms"), (1, "1 ms"), (999, "999 ms"), (1000, "1.0 s"), (9999, "9.9 s"), (10_000, "10 s"), (59_900, "59 s"),
            (60_000, "1 min"), (3_599_999, "59 min 59 s"), (86_340_000, "23 h 59 min"), (86_399_999, "23 h 59 min"),
            (86_400_000, "1 d"), (20_000 * 86_400_000, "20000 d"),
        ] as [(Int64, String)])
    func durations(milliseconds: Int64, text: String) { #expect(Duration.milliseconds(milliseconds).forPeople == text) }

    @Test("Each duration has two units at most, is never longer than it was, and an age has no sign")
    func everyDuration() {
        for number in Self.numbers {
            let duration = Duration.milliseconds(number)
            #expect(duration.forPeople.split(separator: " ").count <= 4, "\(number)")
            #expect(duration.forPeople.hasPrefix("-") == (number < 0), "\(number): \(duration.forPeople)")
            #expect(!duration.ageForPeople.contains("-"), "\(number): \(duration.ageForPeople)")
            if let read = Duration(parsing: duration.forPeople) { #expect(read <= duration, "\(number)") }
        }
        for duration in [
            Duration(secondsComponent: .max, attosecondsComponent: 0), Duration(secondsComponent: .min, attosecondsComponent: 0),
        ] {
            #expect(!duration.ageForPeople.contains("-"))
            #expect(!duration.forPeople.isEmpty)
        }
    }

    @Test("Seen from any time, any other is an age, a clock that was not set, or a date in the future; and no wait is negative")
    func everyTime() {
        let times = ["1970-01-01T00:00:00Z", "1999-12-31T23:59:59Z", "2026-11-21T12:00:00Z", "2035-01-01T00:00:00Z"]
            .compactMap { Timestamp(rfc3339: $0) }
        let ends = [Timestamp.distantPast, .distantFuture, Timestamp(milliseconds: .min), Timestamp(milliseconds: .max)]
        for now in times + ends {
            for time in times + ends + Self.numbers.prefix(200).map({ Timestamp(milliseconds: $0) }) {
                let isCredible = time.isCredible(at: now)
                let text = time.age(at: now, "ago")
                #expect(text.hasSuffix(" ago") == isCredible, "\(time.rfc3339) at \(now.rfc3339): \(text)")
                #expect(
                    isCredible || text.hasSuffix("the clock was not set") || text.hasPrefix("dated in the future ("), "\(text)")
                #expect(!time.wait(at: now).contains("-"), "\(time.rfc3339) at \(now.rfc3339): \(time.wait(at: now))")
            }
        }
    }
}
