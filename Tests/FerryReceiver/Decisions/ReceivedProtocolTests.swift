import FerrySpool
import HTTPTypes
import TestSupport
import Testing

@testable import FerryReceiver

@Suite("A receiver reads what an uploader writes")
struct ReceivedProtocolTests {
    private static func names(using random: inout Seeded) -> [SegmentName] {
        (0..<Int.random(in: 1...20, using: &random)).map { _ in
            SegmentName(
                priority: Priority(.random(in: 0..<Priority.levels, using: &random)) ?? .normal,
                created: Timestamp(milliseconds: .random(in: 0...4_000_000_000_000, using: &random)),
                id: SegmentID.random(using: &random), stream: Bool.random(using: &random) ? StreamLabel("web-2_x") : nil)
        }
    }

    private static func trail(using random: inout Seeded) throws -> Trail {
        let spools = (0..<Int.random(in: 0...Trail.longest, using: &random)).map { _ in SegmentID.random(using: &random).text }
        return try #require(Trail(hops: .random(in: spools.count...999, using: &random), spools: spools))
    }

    /// Returns the fields of a request for whole segments.
    private static func fields(_ names: [SegmentName], _ bytes: [ByteCount]) -> HTTPFields {
        var fields = HTTPFields()
        fields[.ferrySegment] =
            names.count == 1
            ? SegmentNameField.text(names[0].fileName, isForeign: false)
            : SegmentListField.text(zip(names, bytes).lazy.map { (name: $0.fileName, bytes: $1) })
        return fields
    }

    @Test("The segments, their bytes and their ways", arguments: 0..<100 as Range<UInt64>)
    func segments(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let names = Self.names(using: &random)
        let bytes = names.map { _ in ByteCount(Int64.random(in: 1...Int64.max, using: &random)) }
        var trails: [Trail] = []
        for _ in names { trails.append(try Self.trail(using: &random)) }
        var fields = Self.fields(names, bytes)
        fields[.ferryHops] = HopsField.text(trails)
        fields[.ferryVia] = ViaField.text(trails)
        let parts = try JoinedSegments.parts(fields, now: .now())
        let hops = trails.map(\.hops).max() ?? 0
        #expect(parts.map(\.identity) == names.map { SegmentIdentity($0) })
        #expect(parts.compactMap(\.bytes) == (names.count == 1 ? [] : bytes))
        #expect(parts.map(\.trail) == trails.compactMap { Trail(hops: hops, spools: $0.spools) })
    }

    @Test("Their ages and the readings of clocks", arguments: 0..<100 as Range<UInt64>)
    func agesAndClocks(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let names = Self.names(using: &random)
        let ages = names.map { _ in Duration.seconds(Int64.random(in: 0...3_155_760_000, using: &random)) }
        let clocks = names.map { _ in
            Bool.random(using: &random) ? nil : Timestamp(milliseconds: .random(in: 0...4_000_000_000_000, using: &random))
        }
        var fields = Self.fields(names, names.map { _ in ByteCount(1) })
        fields[.ferryAge] = AgesField.text(ages)
        fields[.ferryCreatedClock] = ClockReadingsField.text(clocks)
        let parts = try JoinedSegments.parts(fields, now: .now())
        #expect(parts.compactMap(\.age) == ages)
        #expect(parts.map(\.clock) == clocks)
    }

    @Test(
        "The name and the key of another tool's file",
        arguments: ["a,b.json.gz", "x;bytes=5.jsonl.gz", "für 1.ndjson.gz", "50%.jsonl.gz"])
    func foreign(name: String) throws {
        let key = "\(name.percentEncodedForURL)~spool~00ff"
        var fields = HTTPFields()
        fields[.ferrySegment] = SegmentNameField.text(name, isForeign: true)
        fields[.idempotencyKey] = IdempotencyKeyField.text(key)
        fields[.ferryCreated] = "2026-11-21T03:15:02.123Z"
        let part = try #require(try JoinedSegments.parts(fields, now: .now()).first)
        #expect(part.bytes == nil)
        #expect(part.identity.key == key)
        #expect(part.identity.givenName == nil)
        #expect(part.identity.name.fileName == "5-20261121T031502.123Z-\(ReceivedID(key).text).jsonl.gz")
    }

    @Test("A list that names what can be no spool is refused, and so is one that names a segment twice")
    func refused() {
        let first = "0-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
        let second = "0-20261121T031502.123Z-9f3k2m9qx7wd4t1c.jsonl.gz"
        var fields = HTTPFields()
        fields[.ferrySegment] = "\(first);bytes=5, \(second);bytes=7"
        fields[.ferryVia] = "a, b/c"
        #expect(throws: RequestHeaderError.via) { try JoinedSegments.parts(fields, now: .now()) }
        fields[.ferryVia] = nil
        fields[.ferrySegment] = "\(first);bytes=5, \(first);bytes=7"
        #expect(throws: RequestHeaderError.parts) { try JoinedSegments.parts(fields, now: .now()) }
    }
}
