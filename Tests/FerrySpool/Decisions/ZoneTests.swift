import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Time zones", .enabled(if: hasTimeZones, "needs tzdata"))
struct ZoneTests {
    @Test(
        "They agree with Foundation's, at any moment of forty years",
        arguments: [
            "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Cairo",
            "Pacific/Apia", "America/St_Johns", "UTC", "Asia/Tehran",
        ])
    func agree(_ name: String) throws {
        let zone = try Zone(named: name)
        let foundation = try #require(TimeZone(identifier: name))
        var generator = Seeded(seed: 3)
        for _ in 0..<3000 {
            let second = Int64.random(in: 631_152_000..<1_861_920_000, using: &generator)
            let local = zone.local(at: Timestamp(milliseconds: second * 1000))
            let offset = Int64(foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
            #expect(local.day * 86_400 + local.second == second + offset, "\(name) at \(second)")
        }
    }

    @Test("Every local time has a moment, which shows that time unless the clocks skipped it")
    func roundTrip() throws {
        var generator = Seeded(seed: 4)
        for name in ["Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia"] {
            let zone = try Zone(named: name)
            var skipped = 0
            for _ in 0..<5000 {
                let local = LocalTime(
                    day: .random(in: 10_000...21_000, using: &generator), second: .random(in: 0..<86_400, using: &generator))
                let moment = zone.moment(of: local)
                if zone.local(at: moment) != local { skipped += 1 }
                // Never before the moment that the clocks showed just before.
                #expect(abs(moment.milliseconds / 1000 - (local.day * 86_400 + local.second)) < 15 * 3600)
            }
            #expect(skipped < 10)
        }
    }

    @Test("A skipped time is the moment of the change, a time shown twice the first of both")
    func change() throws {
        let berlin = try Zone(named: "Europe/Berlin")
        func moment(_ day: String, _ time: String) -> String {
            let midnight = Timestamp(rfc3339: "\(day)T00:00:00Z")!.milliseconds / 86_400_000
            return berlin.moment(of: LocalTime(day: midnight, second: DayTime(parsing: time)!.seconds)).rfc3339
        }
        #expect(moment("2026-03-29", "02:30") == "2026-03-29T01:00:00.000Z")
        #expect(moment("2026-03-29", "03:00") == "2026-03-29T01:00:00.000Z")
        #expect(moment("2026-10-25", "02:30") == "2026-10-25T00:30:00.000Z")
        #expect(moment("2026-10-25", "03:00") == "2026-10-25T02:00:00.000Z")
        #expect(moment("2060-07-01", "12:00") == "2060-07-01T10:00:00.000Z", "after the file's last entry its rule holds")
    }

    @Test(
        "POSIX rules",
        arguments: [
            ("EST5EDT,M3.2.0,M11.1.0", "2026-07-01T00:00:00Z", -4 * 3600),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-12-01T00:00:00Z", -18_000),
            ("<-03>3", "2026-07-01T00:00:00Z", -10_800), ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39_600),
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-06-01T00:00:00Z", 37_800),
            ("XXX-1YYY,J60/0,300", "2024-03-01T00:00:00Z", 7200), ("XXX-1YYY,J60/0,300", "2024-02-29T12:00:00Z", 3600),
            ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00Z", 10_800),
            ("IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-26T23:00:00Z", 7200),
        ])
    func rules(_ text: String, _ moment: String, _ offset: Int) throws {
        let rule = try #require(ZoneRule(text))
        #expect(rule.offset(at: Timestamp(rfc3339: moment)!.milliseconds / 1000) == Int64(offset))
    }

    @Test(
        "What is no zone is refused",
        arguments: ["", "../etc/passwd", "/etc/passwd", "America", "Mars/Base", "tzdata.zi", "Europe/Ber\nlin"])
    func unknown(_ name: String) {
        #expect(throws: ZoneError.self) { try Zone(named: name) }
    }

    @Test("Mutated files are read or refused, never more")
    func mutation() throws {
        let bytes = try OpenFile.reading("/usr/share/zoneinfo/Europe/Berlin").readBytes(1 << 16, at: 0)
        var generator = Seeded(seed: 9)
        for _ in 0..<2000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                mutated[.random(in: 0..<mutated.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { mutated.removeLast(.random(in: 0..<mutated.count, using: &generator)) }
            if let file = ZoneFile(mutated) { _ = file.offset(at: .random(in: -4e9.integer...4e9.integer, using: &generator)) }
        }
    }
}

extension Double {
    fileprivate var integer: Int64 { Int64(self) }
}
