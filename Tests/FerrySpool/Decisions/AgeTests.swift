import FerrySpool
import Testing

@Suite("How long ago something was, for people")
struct AgeTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    @Test(
        "From milliseconds to years",
        arguments: [
            (0, "0 ms"), (250, "250 ms"), (200_000, "3 min 20 s"), (86_400_000 * 3 + 3_600_000, "3 d 1 h"),
            (86_400_000 * 31 + 3_600_000, "31 d"), (86_400_000 * 729, "729 d"), (86_400_000 * 730, "2 years"),
        ] as [(Int64, String)])
    func past(milliseconds: Int64, text: String) {
        #expect((now - .milliseconds(milliseconds)).age(at: now) == text)
    }

    @Test("20,000 days are read as years")
    func years() {
        #expect(Duration.seconds(20_000 * 86_400).ageForPeople == "54 years")
    }

    @Test("A clock that was not set, and one that was ahead, are named")
    func wrongClocks() {
        #expect(Timestamp(milliseconds: 0).age(at: now) == "1970: the clock was not set")
        #expect(Timestamp.distantPast.age(at: now) == "0000: the clock was not set")
        #expect((now + .seconds(3_000_000)).age(at: now) == "dated in the future (2026-12-26)")
        #expect(Timestamp.distantFuture.age(at: now) == "dated in the future (9999-12-31)")
    }

    @Test("Two clocks that differ by a minute are right")
    func skew() {
        #expect((now + .seconds(60)).age(at: now) == "0 ms")
    }
}
