import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Numbers from outside")
struct NumberDoorTests {
    @Test("Sums and differences of sizes stop at the ends")
    func sizes() {
        #expect(ByteCount(.max) + ByteCount(1) == ByteCount(.max))
        #expect(ByteCount(.min) - ByteCount(1) == ByteCount(.min))
        #expect(ByteCount(0) - ByteCount(.min) == ByteCount(.max))
        #expect(ByteCount.mebibytes(.max) == ByteCount(.max))
        #expect(ByteCount.kibibytes(.min) == ByteCount(.min))
        var sum = ByteCount(.max)
        sum += sum
        #expect(sum == ByteCount(.max))
    }

    @Test("Counts stop at the ends")
    func counts() {
        #expect(Int64.max.adding(1) == .max)
        #expect(Int64.min.adding(-1) == .min)
        #expect(Int64.min.subtracting(1) == .min)
        #expect(Int64.max.subtracting(-1) == .max)
        #expect(Int64.min.multiplying(by: -1) == .max)
        #expect(Int64.min.multiplying(by: 2) == .min)
        #expect(Int64(2).adding(3) == 5)
    }

    @Test(
        "Whatever a file's time is, it is a moment that can be written",
        arguments: [Int.min, -62_167_219_201, 253_402_300_800, Int.max])
    func fileTimes(seconds: Int) {
        let time = Timestamp(timespec(tv_sec: seconds, tv_nsec: 999_999_999))
        #expect(time == (seconds < 0 ? .distantPast : .distantFuture))
        #expect(Timestamp(rfc3339: time.rfc3339) == time)
    }

    @Test("Arithmetic with moments stops at the years 0000 and 9999")
    func moments() {
        #expect(Timestamp.distantFuture + .milliseconds(1) == .distantFuture)
        #expect(Timestamp.distantPast - Duration.seconds(Int64.max) == .distantPast)
        #expect(Timestamp.distantPast - Duration.seconds(Int64.min) == .distantFuture)
        #expect(Timestamp(milliseconds: .min) == .distantPast)
        #expect((Timestamp.distantFuture - Timestamp.distantPast).wholeMilliseconds == 315_569_519_999_999)
        #expect(Timestamp.distantFuture.compact == "99991231T235959.999Z")
        #expect(Timestamp.distantPast.compact == "00000101T000000.000Z")
    }

    @Test("A number or text that is no moment of these years is refused")
    func refused() {
        #expect(Timestamp(exactly: 253_402_300_800_000) == nil)
        #expect(Timestamp(exactly: -62_167_219_200_001) == nil)
        #expect(Timestamp(rfc3339: "9999-12-31T23:59:59-00:01") == nil)
        #expect(Timestamp(rfc3339: "0000-01-01T00:00:00+00:01") == nil)
    }

    @Test("Durations of any length have milliseconds and a text")
    func durations() {
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
        #expect(!Duration.seconds(Int64.min).forPeople.isEmpty)
    }

    @Test(
        "A duration of a century is read, a longer one refused", arguments: ["876601h", "3155760001s", "99999999999d", "5300w"])
    func longDurations(text: String) {
        #expect(Duration(parsing: "36525d") == .century)
        #expect(Duration(parsing: text) == nil)
    }

    @Test("A note that a member of its length cannot fulfil counts as absent")
    func notes() {
        func canBeTrue(_ events: Int64, _ uncompressed: Int64, _ length: Int64) -> Bool {
            GzipMemberCounts(events: events, uncompressed: uncompressed, memberLength: length).canBeTrue(headerLength: 41)
        }
        #expect(canBeTrue(0, 0, 51))
        #expect(canBeTrue(1, 1, 60))
        #expect(canBeTrue(2, 3, 60))
        #expect(!canBeTrue(2, 2, 60))
        #expect(!canBeTrue(1, 0, 60))
        #expect(canBeTrue(1, 60_000, 60))
        #expect(!canBeTrue(1, 70_000, 60))
        #expect(!canBeTrue(0, 0, 50))
        #expect(!canBeTrue(1 << 62, 1 << 62, 1 << 62))
        #expect(!canBeTrue(-1, 1, 60))
    }

    @Test(
        "A sidecar with a number that no count can be is unreadable",
        arguments: ["9223372036854775807", "-1", "1e30", "1000000001"])
    func attempts(number: String) throws {
        func sidecar(_ attempts: String, _ failures: String) -> Data {
            let time = "\"2026-11-21T03:15:02.123Z\""
            return Data(
                """
                {"attempts":\(attempts),"failures":\(failures),"firstAttemptAt":\(time),"lastAttemptAt":\(time),
                "lastError":{"kind":"status","message":"","scope":"segment"},"nextAttemptAt":\(time),"version":1}
                """.utf8)
        }
        #expect(try JSONDecoder().decode(RetryState.self, from: sidecar("2", "1")).attempts == 2)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(RetryState.self, from: sidecar(number, "1")) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(RetryState.self, from: sidecar("1", number)) }
    }

    @Test(
        "Clocks that no machine can have shown are unreadable", arguments: ["-9223372036854775808", "9223372036854775807", "-1"])
    func clocks(number: String) throws {
        func clock(_ sinceBoot: String, _ steadySince: String) -> Data {
            Data(
                "{\"bootID\":\"b\",\"sinceBoot\":\(sinceBoot),\"steadySince\":\(steadySince),\"wall\":\"2026-11-21T03:15:02Z\"}"
                    .utf8)
        }
        #expect(try JSONDecoder().decode(ClockJumpDetector.self, from: clock("5", "null")).steadySince == nil)
        #expect(try JSONDecoder().decode(ClockJumpDetector.self, from: clock("5", "4")).steadySince == 4)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClockJumpDetector.self, from: clock(number, "null")) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClockJumpDetector.self, from: clock("5", number)) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClockJumpDetector.self, from: clock("5", "6")) }
        let agreed = clock("5", "4,\"agreedFor\":\(number)")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClockJumpDetector.self, from: agreed) }
        let since = clock("5", "4,\"agreedSince\":\(number)")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClockJumpDetector.self, from: since) }
        let borneOut = clock("5", "4,\"borneOut\":\(number)")
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ClockJumpDetector.self, from: borneOut) }
    }

    @Test(
        "Zone files that were cut or changed anywhere are refused or read, and tell the time",
        .enabled(if: hasTimeZones, "needs tzdata"))
    func zones() throws {
        let file = try OpenFile.reading("/usr/share/zoneinfo/America/Sao_Paulo")
        let sound = try file.readBytes(1 << 16, at: 0)
        #expect(ZoneFile(sound) != nil)
        var generator = Seeded(seed: 78)
        for _ in 0..<3000 {
            var bytes = Array(sound.prefix(Int.random(in: 0...sound.count, using: &generator)))
            if Bool.random(using: &generator) { bytes = sound }
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            guard let zone = ZoneFile(bytes) else { continue }
            for second in [Int64(-62_167_219_200), 0, 1_790_000_000, 253_402_300_799] { _ = zone.offset(at: second) }
        }
    }
}

@Suite("Names from outside")
struct NameDoorTests {
    @Test("An ID has 16 to 64 characters, a name with the longest parts leaves room for everything beside it")
    func lengths() throws {
        let time = Timestamp(milliseconds: 0)
        let longest = String(repeating: "z", count: 64)
        #expect(SegmentName(priority: .normal, created: time, id: String(repeating: "z", count: 65)) == nil)
        let name = try #require(SegmentName(priority: .normal, created: time, id: longest, stream: longest))
        #expect(SegmentName(name.fileName) == name)
        #expect(name.fileName.utf8.count == 161)
        #expect(ForeignName.stem(of: name.fileName) == name.fileName)
    }

    @Test("A segment with the longest ID has no halves, one with a shorter ID has")
    func halves() throws {
        let name = Segments.name(id: String(repeating: "z", count: 63))
        let half = try #require(name.halves?.second)
        #expect(half.splitParent == name)
        #expect(half.halves == nil)
    }

    @Test("Parts that are bounded make a name, at every time")
    func total() {
        for time in [Timestamp.distantPast, Timestamp(milliseconds: 0), .distantFuture] {
            let name = SegmentName(priority: .bulk, created: time, id: SegmentID(UInt128.max), stream: StreamLabel("s"))
            #expect(SegmentName(name.fileName) == name)
            let hashed = name.with(id: SegmentID(hashing: "x".utf8))
            #expect(SegmentName(hashed.fileName) == hashed)
        }
        #expect(SegmentID(UInt128.zero).text.utf8.count == 25)
        #expect(StreamLabel("") == nil)
        #expect(StreamLabel("UPPER") == nil)
    }

    @Test("A long name's sidecar is under its first 100 bytes, cut at a character, and a hash of all of it")
    func stems() {
        let name = String(repeating: "ä", count: 120) + ".json.gz"
        let stem = ForeignName.stem(of: name)
        #expect(stem == String(repeating: "ä", count: 50) + "~6bd35196706b5b12")
        #expect(stem.utf8.count == 117)
        #expect(ForeignName.stem(of: "b" + name) != stem)
        #expect(ForeignName.stem(of: "a" + name).utf8.count == 116)
        let short = String(repeating: "x", count: 162) + ".json.gz"
        #expect(ForeignName.stem(of: short) == short)
        #expect(ForeignName.stem(of: "x" + short) == String(repeating: "x", count: 100) + "~7ff1522e9c87d15c")
    }

    @Test("A copy of a long name fits into a folder and keeps its ending")
    func copies() {
        #expect(ForeignName.copy(2, of: "a.jsonl.gz") == "a.jsonl.gz~2")
        let long = String(repeating: "x", count: 247) + ".json.gz"
        let copy = ForeignName.copy(12, of: long)
        #expect(copy.hasSuffix(".json.gz~12"))
        #expect(copy.utf8.count < 140)
    }

    @Test(
        "What can be a file's name in a spool is told from what cannot",
        arguments: [
            ("a.jsonl.gz", true), ("ä b.ndjson.gz", true), ("", false), (".a.json.gz", false), ("a/b.json.gz", false),
            ("a\u{0}.json.gz", false), ("a\n.json.gz", false), ("a.json", false),
            (".\u{301}a.json.gz", false), ("a\u{600}.json.gz", true),
            (String(repeating: "x", count: 248) + ".json.gz", false), (String(repeating: "x", count: 247) + ".json.gz", true),
        ])
    func legal(name: String, isLegal: Bool) {
        #expect(ForeignName.isLegal(name) == isLegal)
    }

    @Test(
        "Names that are nearly right tell what keeps them from being so",
        arguments: [
            ("5-20261121T031502.123456Z-8f3k2m9qx7wd4t1c.jsonl.gz", NameFlaw.fraction(digits: 6)),
            ("5-20261121T031502Z-8f3k2m9qx7wd4t1c.jsonl.gz", .fraction(digits: 0)),
            ("5-20261121T031502.123+0100-8f3k2m9qx7wd4t1c.jsonl.gz", .notUTC),
            ("5-20261321T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", .noSuchTime),
            ("5-20261121T031502.123Z-8F3K2M9QX7WD4T1C.jsonl.gz", .capitals),
            ("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.WEB.jsonl.gz", .capitals),
            ("5-20261121T031502.123Z-8f3k2m9q.jsonl.gz", .idLength(8)),
            ("5-20261121T031502.123Z.jsonl.gz", .idLength(0)),
            ("5-20261121T031502.123Z-\(String(repeating: "a", count: 65)).jsonl.gz", .idLength(65)),
            ("5-20261121T031502.123Z-8f3k2m9q-7wd4t1c.jsonl.gz", .idCharacter),
            ("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.a.b.jsonl.gz", .stream),
            ("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c..jsonl.gz", .stream),
            ("5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.ndjson.gz", .ending),
            ("5-2026-11-21T03:15:02.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", .timeForm),
            ("5-20261121t031502.123z-8f3k2m9qx7wd4t1c.jsonl.gz", .timeForm),
        ])
    func flaws(name: String, flaw: NameFlaw) {
        #expect(NameFlaw(name) == flaw)
    }

    @Test(
        "Other tools' names have no flaw, and the format's own have none",
        arguments: [
            "export.jsonl.gz", "5-orders.json.gz", "20261121T031502.123Z.jsonl.gz", "5-2026.json.gz",
            "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.a_-1.jsonl.gz",
        ])
    func noFlaw(name: String) {
        #expect(NameFlaw(name) == nil)
    }

    @Test("Of changed names each is the format's, or has a flaw, or looks like another tool's")
    func changedNames() {
        var generator = Seeded(seed: 79)
        for _ in 0..<20_000 {
            var bytes = Array(SegmentNameTests.random(&generator).fileName.utf8)
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...127, using: &generator)
            }
            let name = String(decoding: bytes, as: UTF8.self)
            if SegmentName(name) != nil { #expect(NameFlaw(name) == nil, "\(name)") }
        }
    }

    @Test("The first few flawed names are shown, the rest counted")
    func flawedNames() throws {
        var flawed = FlawedNames()
        #expect(flawed.lines.isEmpty)
        for number in 1...5 { flawed.add("name \(number)", .capitals) }
        #expect(flawed.first.map(\.segment) == ["name 1", "name 2", "name 3"])
        #expect(flawed.count == 5)
        #expect(flawed.lines.last == "  … and 2 more")
    }
}
