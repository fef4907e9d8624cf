import FerrySpool
import Testing

private let one = "0-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
private let other = "5-20261121T031502.124Z-9f3k2m9qx7wd4t1c.web.jsonl.gz"

@Suite("The header fields in which uploaders and receivers speak")
struct ProtocolTests {
    @Test("The fields have the names that every version gives them")
    func names() {
        #expect(
            FerryHeader.allCases.map(\.rawValue) == [
                "Idempotency-Key", "Ferry-Segment", "Ferry-Created", "Ferry-Created-Clock", "Ferry-Age", "Ferry-Sent-At",
                "Ferry-Spool", "Ferry-Attempt", "Ferry-Events", "Ferry-Hops", "Ferry-Via", "Ferry-Late", "Ferry-Replay",
                "Ferry-Accepts",
            ])
    }

    @Test("Each form stands in the field that the format has for it")
    func headers() {
        #expect(SegmentNameField.header == .segment)
        #expect(SegmentListField.header == .segment)
        #expect(SegmentLinesField.header == .segment)
        #expect(ClockReadingsField.header == .createdClock)
        #expect(AgesField.header == .age)
        #expect(HopsField.header == .hops)
        #expect(ViaField.header == .via)
        #expect(AcceptedBodiesField.header == .accepts)
        #expect(IdempotencyKeyField.header == .idempotencyKey)
    }

    @Test("A name of the format goes out as it is, another tool's percent-encoded")
    func writesName() {
        #expect(SegmentNameField.text(one, isForeign: false) == one)
        #expect(SegmentNameField.text("für 1,2;3.json.gz", isForeign: true) == "f%C3%BCr%201%2C2%3B3.json.gz")
    }

    @Test(
        "A name is read as its sender has it, encoded or not",
        arguments: [
            ("f%C3%BCr%201%2C2%3B3.json.gz", "für 1,2;3.json.gz"), ("export 1.jsonl.gz", "export 1.jsonl.gz"),
            ("50%.ndjson.gz", "50%.ndjson.gz"), ("%35-x.jsonl.gz", "5-x.jsonl.gz"),
        ])
    func readsForeignName(text: String, name: String) { #expect(SegmentNameField(text) == .foreign(name)) }

    @Test("A name of the format is read as one")
    func readsName() throws { #expect(SegmentNameField(other) == .own(try #require(SegmentName(other)))) }

    @Test(
        "What no segment's file can be called is refused",
        arguments: [
            "", "batch 1", ".hidden.jsonl.gz", "a/b.jsonl.gz", "a%2Fb.jsonl.gz", "a%0Ab.jsonl.gz", "a%7F.jsonl.gz",
            "%2E.jsonl.gz",
            "\(one);bytes=5", "\(one);lines=\"1-5\"", String(repeating: "a", count: 247) + ".jsonl.gz",
        ])
    func refusesName(text: String) { #expect(SegmentNameField(text) == nil) }

    @Test("The longest name of a file is read")
    func readsLongestName() {
        let name = String(repeating: "a", count: 246) + ".jsonl.gz"
        #expect(SegmentNameField(name) == .foreign(name))
    }

    private static func list(_ text: String) -> [String]? {
        SegmentListField.segments(text)?.map { "\($0.name.fileName) \($0.bytes.bytes)" }
    }

    @Test("A list has each name with its bytes")
    func writesList() {
        let text = SegmentListField.text([(name: one, bytes: ByteCount(4096)), (name: other, bytes: ByteCount(512))])
        #expect(text == "\(one);bytes=4096, \(other);bytes=512")
        #expect(SegmentListField.isList(text))
        #expect(!SegmentListField.isList(one))
    }

    @Test(
        "A list is read with spaces and empty items too",
        arguments: [
            ("\(one);bytes=4096, \(other);bytes=512", ["\(one) 4096", "\(other) 512"]),
            ("\(one);bytes=1,\(other);bytes=9223372036854775807", ["\(one) 1", "\(other) 9223372036854775807"]),
            (" \(one) ; bytes = 5 ,,", ["\(one) 5"]), ("\(one);bytes=+007,", ["\(one) 7"]),
        ])
    func readsList(text: String, segments: [String]) { #expect(Self.list(text) == segments) }

    @Test(
        "A list that a body cannot be cut by is refused",
        arguments: [
            "", ",", " , ,", "\(one), \(other)", "\(one);bytes=5, \(other)", "\(one);bytes=5, ;bytes=5", "\(one);bytes=0,",
            "\(one);bytes=-1,", "\(one);bytes=,", "\(one);bytes=5.0,", "\(one);bytes=0x5,", "\(one);bytes=9223372036854775808,",
            "\(one);bytes=99999999999999999999999,", "\(one);bytes=5;bytes=5,", "\(one);size=5,",
            "\(one);lines=\"1-5\", \(other)",
            "export.jsonl.gz;bytes=5, \(other);bytes=5", "\(one);bytes=5, \(one);bytes=6",
        ])
    func refusesList(text: String) { #expect(Self.list(text) == nil) }

    @Test("Lines are counted from 1, and none stand with a whole segment")
    func writesLines() {
        #expect(SegmentLinesField.text([(name: one, isForeign: false, lines: 0..<500)]) == "\(one);lines=\"1-500\"")
        #expect(
            SegmentLinesField.text([
                (name: one, isForeign: false, lines: 500..<501), (name: other, isForeign: false, lines: nil),
                (name: "1,2.json.gz", isForeign: true, lines: 0..<7),
            ]) == "\(one);lines=\"501-501\", \(other), 1%2C2.json.gz;lines=\"1-7\"")
    }

    @Test("A clock's reading stands where it was not the segment's time")
    func writesReadings() {
        let boot = Timestamp(milliseconds: 42_007)
        #expect(ClockReadingsField.text([nil, boot, nil]) == "-, 1970-01-01T00:00:42.007Z, -")
        #expect(ClockReadingsField.text([boot]) == "1970-01-01T00:00:42.007Z")
        #expect(ClockReadingsField.text([nil, nil]) == nil)
    }

    @Test("As many readings are read as there are segments, and what is no time is none")
    func readsReadings() {
        let boot = Timestamp(milliseconds: 42_000)
        #expect(ClockReadingsField.readings("-, 1970-01-01T00:00:42Z", count: 2) == [nil, boot])
        #expect(ClockReadingsField.readings("1970-01-01T00:00:42Z", count: 3) == [boot, nil, nil])
        #expect(ClockReadingsField.readings("1970-01-01T00:00:42Z, -", count: 1) == [boot])
        #expect(ClockReadingsField.readings("1970-01-01 00:00:42Z", count: 1) == [nil])
        #expect(ClockReadingsField.readings("soon, 99999-01-01T00:00:00Z, -9", count: 3) == [nil, nil, nil])
        #expect(ClockReadingsField.readings("", count: 1) == [nil])
        #expect(ClockReadingsField.readings(nil, count: 2) == [nil, nil])
    }

    @Test("Ages are whole seconds")
    func writesAges() {
        #expect(AgesField.text([.seconds(5), .zero, .milliseconds(1999), .seconds(3_155_760_000)]) == "5, 0, 1, 3155760000")
    }

    @Test("As many ages are read as there are segments, and what is no age is none")
    func readsAges() {
        #expect(AgesField.ages("5, 0,3155760000", count: 3) == [.seconds(5), .zero, .seconds(3_155_760_000)])
        #expect(AgesField.ages("5", count: 2) == [.seconds(5), nil])
        #expect(AgesField.ages("5, 6", count: 1) == [.seconds(5)])
        #expect(AgesField.ages("-5, 3155760001, 99999999999999999999, 5.5, x, -", count: 6) == [nil, nil, nil, nil, nil, nil])
        #expect(AgesField.ages("", count: 1) == [nil])
        #expect(AgesField.ages(nil, count: 2) == [nil, nil])
    }

    private static func trails(_ texts: String...) throws -> [Trail] { try texts.map { try #require(Trail($0)) } }

    @Test("Hops are those of the longest way, and none where nothing came")
    func writesHops() throws {
        #expect(HopsField.text(try Self.trails("2 a b", "3", "0")) == "3")
        #expect(HopsField.text([.none]) == nil)
    }

    @Test(
        "Hops are a number up to 999",
        arguments: [
            ("0", 0), ("999", 999), ("+5", 5), ("1000", nil), ("-1", nil), ("", nil), (" 1", nil), ("x", nil), ("1.0", nil),
            ("99999999999999999999", nil),
        ] as [(String, Int?)])
    func readsHops(text: String, hops: Int?) { #expect(HopsField.hops(text) == hops) }

    @Test("The ways stand in the order of the segments, a hyphen for one that came out of no known spool")
    func writesVia() throws {
        #expect(ViaField.text(try Self.trails("2 edge a", "1", "1 B_9")) == "edge a, -, B_9")
        #expect(ViaField.text(try Self.trails("2 edge a")) == "edge a")
        #expect(ViaField.text(try Self.trails("3", "0")) == nil)
    }

    @Test("The ways are read with the request's hops, as many as there are segments")
    func readsVia() throws {
        #expect(try ViaField.trails("edge a, -, B_9", hops: 2, count: 3) == Self.trails("2 edge a", "2", "2 B_9"))
        #expect(try ViaField.trails("a", hops: 1, count: 2) == Self.trails("1 a", "1"))
        #expect(try ViaField.trails("a, b", hops: 1, count: 1) == Self.trails("1 a"))
        #expect(try ViaField.trails(nil, hops: 1, count: 2) == Self.trails("1", "1"))
    }

    @Test(
        "The way of a single segment may have commas or spaces",
        arguments: [("edge a", "2 edge a"), ("edge, a", "2 edge a"), ("-", "2"), ("", "2"), (nil, "2")] as [(String?, String)])
    func readsOneWay(text: String?, trail: String) { #expect(ViaField.trail(text, hops: 2)?.text == trail) }

    @Test(
        "What can be no spool, and a way through too many, is refused",
        arguments: ["a/b", "caf\u{e9}", "a;b", String(repeating: "a", count: 65), String(repeating: " a", count: 17)])
    func refusesWay(text: String) {
        #expect(ViaField.trail(text, hops: 1) == nil)
        #expect(ViaField.trails("a, \(text)", hops: 1, count: 2) == nil)
    }

    @Test("What a receiver takes is written as a token with its bytes")
    func writesAccepted() { #expect(AcceptedBodiesField.text(mostJoined: .mebibytes(16)) == "joined;bytes=16777216") }

    @Test(
        "What a destination takes is read from its header",
        arguments: [
            ("joined;bytes=16777216", 16_777_216), ("joined; bytes=5", 5), ("other, joined;x=1;bytes=7 , z", 7),
            ("joined;bytes=9223372036854775807", .max), ("joined", nil), ("joined;bytes=0", nil), ("joined;bytes=-1", nil),
            ("joined;bytes=99999999999999999999", nil), ("rejoined;bytes=5", nil), ("", nil), (",;,", nil),
        ] as [(String, Int64?)])
    func readsAccepted(header: String, bytes: Int64?) {
        #expect(AcceptedBodiesField.mostJoined(header) == bytes.map { ByteCount($0) })
    }

    @Test("A key goes out in quotes")
    func writesKey() {
        #expect(IdempotencyKeyField.text("8f3k2m9qx7wd4t1c+1-3156qbg1laias") == "\"8f3k2m9qx7wd4t1c+1-3156qbg1laias\"")
    }

    @Test(
        "A key is read with quotes or without",
        arguments: [
            ("\"a~b\"", "a~b"), ("a~b", "a~b"), ("\"a", "\"a"), ("a\"", "a\""), ("\"\"\"", "\""), ("\"", "\""), (" a ", " a "),
            ("caf\u{e9}", "caf\u{e9}"),
        ])
    func readsKey(text: String, key: String) { #expect(IdempotencyKeyField.key(text) == key) }

    @Test("A key has 1 to 1024 bytes, without the quotes")
    func boundsKey() {
        let longest = String(repeating: "k", count: 1024)
        #expect(IdempotencyKeyField.key("\"\(longest)\"") == longest)
        #expect(IdempotencyKeyField.key(longest + "k") == nil)
        #expect(IdempotencyKeyField.key(String(repeating: "\u{e9}", count: 513)) == nil)
        #expect(IdempotencyKeyField.key("") == nil)
        #expect(IdempotencyKeyField.key("\"\"") == nil)
    }

    @Test("A key whose bytes were no UTF-8 is none: two would become one")
    func refusesReplacedBytes() { #expect(IdempotencyKeyField.key("caf\u{FFFD}") == nil) }
}
