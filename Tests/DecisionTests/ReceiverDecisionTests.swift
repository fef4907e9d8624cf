import FerrySpool
import HTTPTypes
import Testing

@testable import FerryIntake
@testable import FerryReceiver

@Suite("What the receiver makes of headers")
struct ReceiverDecisionTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let segment = "0-20261121T031502.123Z-8f3k2m9qx7wd4t1c.dns.jsonl.gz"

    private func identity(_ headers: [String: String]) -> SegmentIdentity {
        var fields = HTTPFields()
        for (name, value) in headers { fields[HTTPField.Name(name)!] = value }
        return SegmentIdentity(fields, now: now)
    }

    @Test("Priority, time, ID and stream survive")
    func proper() {
        let found = identity(["Ferry-Segment": segment, "Idempotency-Key": "\"8f3k2m9qx7wd4t1c\""])
        #expect(found.name.fileName == segment)
        #expect(found.key == "8f3k2m9qx7wd4t1c")
    }

    @Test("A key without a proper name gives the same name at every try")
    func keyed() {
        let headers = ["Ferry-Segment": "export.jsonl.gz", "Idempotency-Key": "\"a~b\"", "Ferry-Created": "2026-01-02T03:04:05Z"]
        #expect(identity(headers) == identity(headers))
        #expect(identity(headers).name.created == Timestamp(rfc3339: "2026-01-02T03:04:05Z"))
    }

    @Test("Without any header every body is new")
    func anonymous() {
        #expect(identity([:]).key == nil)
        #expect(identity([:]).name != identity([:]).name)
    }

    @Test(
        "No name leads out of the folder or into Ferry's own files",
        arguments: ["../../etc/passwd", "/etc/passwd.jsonl.gz", ".ferry/control.json", "a/../b.jsonl.gz", ".hidden.jsonl.gz"])
    func hostile(name: String) {
        let found = identity(["Ferry-Segment": name, "Idempotency-Key": name])
        #expect(SegmentName(found.name.fileName) == found.name)
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
        #expect(BodyDigest(hexadecimal: text) == BodyDigest(hexadecimal: text))
    }
}
