import FerrySpool
import HTTPTypes
import Testing

@testable import FerryReceiver

@Suite("The way that a segment came")
struct TrailTests {
    @Test(
        "What is noted is read again, also without IDs, as earlier versions wrote it", arguments: ["0", "3", "2 a b-C_9", "16"])
    func reads(text: String) throws {
        #expect(try #require(Trail(text)).text == text)
    }

    @Test(
        "What is out of bounds is no trail",
        arguments: [
            "", " ", "x", "-1", "1000", "1 ", "1  a", "1 \u{e9}", "1 a,b", "99999999999999999999",
            "1 " + String(repeating: "a", count: 65),
            "17" + String(repeating: " a", count: 17),
        ])
    func outOfBounds(text: String) {
        #expect(Trail(text) == nil)
    }

    @Test("A receiver adds the spool that it was sent from; of a long way the last sixteen stay")
    func adds() {
        var trail = Trail.none
        for number in 0..<20 { trail = trail.adding("s\(number)") }
        #expect(trail.hops == 20)
        #expect(trail.spools == (4..<20).map { "s\($0)" })
        #expect(Trail.none.adding("no ID").spools.isEmpty)
        #expect(Trail.none.adding(nil).hops == 1)
    }

    @Test("What came two ways came through the spools of both")
    func merges() throws {
        let (left, right) = (try #require(Trail("2 a b")), try #require(Trail("3 b c")))
        #expect(left.merging(right).text == "3 a b c")
        #expect(left.merging(left) == left)
        let again = left.adding("b")
        #expect(again.text == "3 a b b")
        #expect(left.merging(again) == left, "the same way once more is no longer one")
        #expect(left.merging(try #require(Trail(hops: 9))).hops == 9, "of spools that gave no ID, the hops are all there is")
    }

    @Test("A request goes in a circle when it comes from the receiver's spool, has been there, or came through sixteen receivers")
    func circles() throws {
        let trail = try #require(Trail("2 edge a"))
        #expect(CircleError([.none, trail], from: "b", to: "c") == nil)
        #expect(CircleError([.none, trail], from: nil, to: "c") == nil)
        #expect(CircleError([.none, trail], from: "b", to: "a") == .returned)
        #expect(CircleError([.none], from: "a", to: "a") == .ownSpool)
        #expect(CircleError([.none, try #require(Trail(hops: 15))], from: "b", to: "a") == nil)
        #expect(CircleError([.none, try #require(Trail(hops: 16))], from: "b", to: "a") == .tooManyHops(16))
    }

    private func trails(_ segments: String, hops: String? = nil, via: String? = nil) throws -> [String] {
        var fields = HTTPFields()
        fields[.ferrySegment] = segments
        fields[.ferryHops] = hops
        fields[.ferryVia] = via
        return try JoinedSegments.parts(fields, now: .now()).map(\.trail.text)
    }

    private let first = "0-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz"
    private let second = "0-20261121T031502.123Z-9f3k2m9qx7wd4t1c.jsonl.gz"

    @Test("The IDs of a request come with each of its segments")
    func headers() throws {
        #expect(try trails(first) == ["0"])
        #expect(try trails(first, hops: "2", via: "a b") == ["2 a b"])
        #expect(try trails(first, hops: "2", via: "a, b") == ["2 a b"])
        #expect(try trails("\(first);bytes=5, \(second);bytes=7", hops: "2", via: "-, a b") == ["2", "2 a b"])
        #expect(try trails("\(first);bytes=5, \(second);bytes=7", hops: "1", via: "a") == ["1 a", "1"])
    }

    @Test(
        "A trail that is out of bounds is told to the sender",
        arguments: [("-1", nil, .hops), ("x", nil, .hops), ("9999999999999999999999", nil, .hops), ("1", "a/b", .via)]
            as [(String, String?, RequestHeaderError)])
    func badHeaders(hops: String, via: String?, problem: RequestHeaderError) {
        #expect(throws: problem) { try trails(first, hops: hops, via: via) }
    }
}
