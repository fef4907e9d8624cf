import FerrySpool
import HTTPTypes
import Testing

@testable import FerryIntake
@testable import FerryReceiver

@Suite("What the receiver makes of headers")
struct ReceiverDecisionTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let segment = "0-20261121T031502.123Z-8f3k2m9qx7wd4t1c.dns.jsonl.gz"

    private func identity(_ headers: [String: String]) throws(RequestHeaderError) -> SegmentIdentity {
        var fields = HTTPFields()
        for (name, value) in headers { fields[HTTPField.Name(name)!] = value }
        return try SegmentIdentity(fields, now: now)
    }

    @Test("Priority, time, ID and stream survive")
    func proper() throws {
        let found = try identity(["Ferry-Segment": segment, "Idempotency-Key": "\"8f3k2m9qx7wd4t1c\""])
        #expect(found.name.fileName == segment)
        #expect(found.key == "8f3k2m9qx7wd4t1c")
    }

    @Test("The clock of a sender comes with each of its segments, whatever else stands in the header")
    func clocks() throws {
        func clocks(_ value: String, _ names: String) throws -> [Timestamp?] {
            var fields = HTTPFields()
            fields[HTTPField.Name("Ferry-Segment")!] = names
            fields[HTTPField.Name("Ferry-Created-Clock")!] = value
            return try JoinedSegments.parts(fields, now: now).map(\.clock)
        }
        let boot = Timestamp(milliseconds: 42_000)
        #expect(try clocks("1970-01-01T00:00:42Z", segment) == [boot])
        let other = segment.replacing("8f3k", with: "9f3k")
        #expect(try clocks("-, 1970-01-01T00:00:42Z", "\(segment);bytes=5, \(other);bytes=7") == [nil, boot])
        #expect(try clocks("1970-01-01T00:00:42Z", "\(segment);bytes=5, \(other);bytes=7") == [boot, nil])
        #expect(try clocks(", ,x, -9", segment) == [nil])
    }

    @Test("What a clock that is behind has dated is as young as its sender says, or its sender's clock")
    func ages() throws {
        let other = segment.replacing("8f3k", with: "9f3k")
        func dated(_ names: String, age: String? = nil, sentAt: String? = nil) throws -> [Timestamp?] {
            var fields = HTTPFields()
            fields[.ferrySegment] = names
            fields[.ferryAge] = age
            fields[.ferrySentAt] = sentAt
            return try JoinedSegments.parts(fields, now: now).map { $0.dated(at: now) }
        }
        let created = try #require(SegmentName(segment)).created
        // By this clock sixty days later.
        let now = created + .seconds(60 * 86_400)
        #expect(try dated(segment) == [nil])
        #expect(try dated(segment, age: "5") == [now - .seconds(5)])
        #expect(try dated(segment, sentAt: (created + .seconds(7)).rfc3339) == [now - .seconds(7)])
        #expect(try dated(segment, age: "5", sentAt: now.rfc3339) == [now - .seconds(5)])
        #expect(try dated(segment, sentAt: now.rfc3339) == [nil])
        #expect(try dated(segment, sentAt: (now - .seconds(500)).rfc3339) == [nil])
        // Its clock was ahead when it was opened.
        #expect(try dated(segment, sentAt: (created - .seconds(7)).rfc3339) == [now])
        #expect(try dated(segment, age: "-5") == [nil])
        #expect(try dated(segment, age: "99999999999999999999") == [nil])
        #expect(try dated(segment, age: "3155760001") == [nil])
        #expect(try dated("\(segment);bytes=5, \(other);bytes=7", age: "5, 6") == [now - .seconds(5), now - .seconds(6)])
        #expect(try dated("\(segment);bytes=5, \(other);bytes=7", age: "5") == [now - .seconds(5), nil])
    }

    @Test("A list without a segment is refused", arguments: [",", " , ,", ",,,"])
    func emptyList(header: String) throws {
        var headers = HTTPFields()
        headers[.ferrySegment] = header
        #expect(throws: RequestHeaderError.parts) { try JoinedSegments.parts(headers, now: .now()) }
    }

    @Test("A key without a proper name gives the same name at every try")
    func keyed() throws {
        let headers = ["Ferry-Segment": "export.jsonl.gz", "Idempotency-Key": "\"a~b\"", "Ferry-Created": "2026-01-02T03:04:05Z"]
        #expect(try identity(headers) == identity(headers))
        #expect(try identity(headers).name.created == Timestamp(rfc3339: "2026-01-02T03:04:05Z"))
    }

    @Test("Without any header every body is new")
    func anonymous() throws {
        #expect(try identity([:]).key == nil)
        #expect(try identity([:]).name != identity([:]).name)
    }

    @Test(
        "No name leads out of the folder or into Ferry's own files",
        arguments: ["../../etc/passwd", "/etc/passwd.jsonl.gz", ".ferry/control.json", "a/../b.jsonl.gz", ".hidden.jsonl.gz"])
    func hostile(name: String) {
        #expect(throws: RequestHeaderError.name) { try identity(["Ferry-Segment": name, "Idempotency-Key": "a"]) }
        let encoded = name.percentEncodedForURL
        #expect(throws: RequestHeaderError.name) { try identity(["Ferry-Segment": encoded, "Idempotency-Key": "a"]) }
    }

    @Test("A name that no file can have is refused, and so is one with a longer ID than the format allows")
    func tooLong() throws {
        let id = String(repeating: "a", count: 210)
        // Of another tool, then: it fits into a folder, and gets a name from its key.
        let found = try identity(["Ferry-Segment": "5-20261121T031502.123Z-\(id).jsonl.gz", "Idempotency-Key": "a~b"])
        #expect(found.name.id == ReceivedID("a~b").text)
        #expect(throws: RequestHeaderError.name) {
            try identity(["Ferry-Segment": "5-20261121T031502.123Z-\(id)\(id).jsonl.gz", "Idempotency-Key": "a"])
        }
        #expect(throws: RequestHeaderError.name) { try identity(["Ferry-Segment": "batch 1"]) }
    }

    @Test(
        "A key is neither empty nor without end, and tells each byte",
        arguments: ["\"\"", "", String(repeating: "k", count: 1025), "caf\u{FFFD}"])
    func keys(key: String) {
        #expect(throws: RequestHeaderError.key) { try identity(["Idempotency-Key": key]) }
    }

    @Test("With a segment's name the key is its ID: no events are taken for another segment's")
    func keyOfAnother() {
        #expect(throws: RequestHeaderError.keyOfAnother) {
            try identity(["Ferry-Segment": segment, "Idempotency-Key": "\"ffffffffffffffff\""])
        }
    }

    @Test(
        "A time of creation that no name can hold counts as unknown",
        arguments: ["9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+00:01", "soon"])
    func creation(time: String) throws {
        #expect(try identity(["Ferry-Created": time, "Idempotency-Key": "a"]).name.created == now)
    }

    @Test("Tokens match only when they are equal")
    func tokens() {
        #expect(BearerToken.matches("Bearer secret", "secret"))
        #expect(BearerToken.matches("bearer secret", "secret"))
        for wrong in [nil, "", "Bearer", "Bearer ", "Bearer secre", "Bearer secret1", "Bearer Secret", "Basic secret", "secret"] {
            #expect(!BearerToken.matches(wrong, "secret"))
        }
    }

    @Test("Digests survive writing and reading")
    func digests() {
        let text = "00ff" + String(repeating: "a1", count: 30)
        #expect(BodyDigest(hexadecimal: text)?.hexadecimal == text)
        #expect(BodyDigest(hexadecimal: "xyz") == nil)
        #expect(BodyDigest(hexadecimal: "+" + text.dropFirst()) == nil)
        #expect(BodyDigest(hexadecimal: text) == BodyDigest(hexadecimal: text))
    }
}
