import FerrySpool
import TestSupport
import Testing

@Suite("Sizes, durations and times")
struct ValueTests {
    @Test(
        "A size is read with powers of 1,000 and of 1,024",
        arguments: [
            ("0", 0), ("500", 500), ("10MB", 10_000_000), ("10mb", 10_000_000), ("1GiB", 1 << 30), ("1.5KiB", 1536),
            ("2 kB", 2000), ("3k", 3000),
        ] as [(String, Int64)])
    func readsSizes(text: String, bytes: Int64) {
        #expect(ByteCount(parsing: text) == ByteCount(bytes))
    }

    @Test(
        "What is no size is refused",
        arguments: ["", "MB", "-1", "1XB", "10 MB MB", "99999999999TB", "1..5MB", "٣MB", "1.5", "0.5b"])
    func refusesSizes(text: String) {
        #expect(ByteCount(parsing: text) == nil)
    }

    @Test(
        "A duration is read with its unit",
        arguments: [
            ("250ms", 250), ("90s", 90_000), ("3m", 180_000), ("1h30m", 5_400_000), ("25d", 2_160_000_000), ("1.5h", 5_400_000),
            ("30 s", 30_000), ("1 min 30 s", 90_000), ("4.2 s", 4200),
        ]
            as [(String, Int64)])
    func readsDurations(text: String, milliseconds: Int64) {
        #expect(Duration(parsing: text) == .milliseconds(milliseconds))
    }

    @Test(
        "What is no duration is refused",
        arguments: ["", "10", "s", "-5s", "1y", "1h30", " 5s", "5s ", "5  s", "5 ", "1 min  5 s"])
    func refusesDurations(text: String) {
        #expect(Duration(parsing: text) == nil)
    }

    @Test("Durations for people have two units at most")
    func durationsForPeople() {
        #expect(Duration.milliseconds(68).forPeople == "68 ms")
        #expect(Duration.milliseconds(2340).forPeople == "2.3 s")
        #expect(Duration.seconds(200).forPeople == "3 min 20 s")
        #expect(Duration.seconds(90_000).forPeople == "1 d 1 h")
        #expect(Duration.seconds(-90).forPeople == "-1 min 30 s")
    }

    @Test(
        "RFC 3339 is read with any offset and fraction",
        arguments: [
            ("2026-11-21T03:15:02.123Z", 1_795_230_902_123), ("2026-11-21T03:15:02Z", 1_795_230_902_000),
            ("2026-11-21T05:15:02.1239+02:00", 1_795_230_902_123), ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31t23:59:59.9z", -100), ("2016-12-31T23:59:60Z", 1_483_228_799_000),
        ] as [(String, Int64)])
    func readsTimes(text: String, milliseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test(
        "What is no time is refused",
        arguments: [
            "", "2026-11-21", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T00:00:00",
            "2026-11-21T00:00:00+25:00", "2026-11-21T00:00:00Zx",
        ])
    func refusesTimes(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("Times survive writing and reading, for four thousand years")
    func timesRoundTrip() {
        var generator = Seeded(seed: 7)
        for _ in 0..<5000 {
            let time = Timestamp(milliseconds: Int64.random(in: -60_000_000_000_000...66_000_000_000_000, using: &generator))
            #expect(Timestamp(rfc3339: time.rfc3339) == time)
        }
        // The days around every leap rule.
        for day in ["1900-02-28", "1900-03-01", "2000-02-29", "2024-02-29", "2100-02-28", "2100-03-01"] {
            #expect(Timestamp(rfc3339: "\(day)T12:00:00Z")?.day == day)
        }
    }
}

@Suite("Texts from outside, for people")
struct PrintableTextTests {
    @Test(
        "What a terminal would obey stands escaped, as in JSON, and everything else stays",
        arguments: [
            ("HTTP 503: busy; 10 % left\tsoon", "HTTP 503: busy; 10 % left\tsoon"), ("Größe 😀", "Größe 😀"),
            ("\u{1b}[2J", "\\u001b[2J"), ("a\r\nb\n", "a\\r\\nb\\n"), ("\u{9b}1m\u{7f}\0", "\\u009b1m\\u007f\\u0000"),
            ("\u{202e}gz.\u{2066}\u{2028}", "\\u202egz.\\u2066\\u2028"), ("", ""),
        ])
    func escapes(text: String, expected: String) {
        #expect(text.printable() == expected)
        #expect(expected.printable() == expected)
    }

    @Test("A bound holds whatever a letter is made of")
    func bound() {
        #expect(("e" + String(repeating: "\u{301}", count: 5000)).printable(limit: 100).unicodeScalars.count == 101)
        #expect("abc".printable(limit: 3) == "abc")
        #expect("abcd".printable(limit: 3) == "abc…")
    }
}
