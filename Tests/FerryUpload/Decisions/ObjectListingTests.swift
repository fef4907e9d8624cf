import FerrySpool
import Testing

@testable import FerryUpload

@Suite("A page of a bucket's list") struct ObjectListingTests {
    private static func listing(_ inner: String) -> ObjectListing? {
        ObjectListing(Array("<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\">\(inner)</ListBucketResult>".utf8))
    }

    private static func entry(_ key: String, size: String = "7", time: String = "2026-11-27T09:12:50.123Z") -> String {
        "<Contents><Key>\(key)</Key><LastModified>\(time)</LastModified><ETag>&quot;ab&quot;</ETag><Size>\(size)</Size>"
            + "<Owner><ID>me</ID></Owner><StorageClass/></Contents>"
    }

    @Test("An entry's name is decoded, its size, time and mark are read") func entry() throws {
        let listing = try #require(Self.listing(Self.entry("a+b%2F%C3%A9%2B&amp;")))
        let object = try #require(listing.objects.first)
        #expect(object.name == "a b/\u{e9}+&")
        #expect(object.size == ByteCount(7))
        #expect(object.modified == Timestamp(rfc3339: "2026-11-27T09:12:50.123Z"))
        #expect(object.etag == "\"ab\"")
        #expect(listing.next == nil)
    }

    @Test(
        "What cannot be an object's is counted, and the others are read",
        arguments: [("", "7", "2026-11-27T09:12:50Z"), ("k", "-1", "2026-11-27T09:12:50Z"), ("k", "7", "now"), ("%FF", "7", "")])
    func flawed(key: String, size: String, time: String) throws {
        let listing = try #require(Self.listing(Self.entry(key, size: size, time: time) + Self.entry("sound")))
        #expect(listing.flawed == 1)
        #expect(listing.objects.map(\.name) == ["sound"])
    }

    @Test("A page that others follow tells how to get the next") func truncated() throws {
        let more = "<IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1</NextContinuationToken>"
        #expect(try #require(Self.listing(more)).next == "t&1")
    }

    @Test("A page that others follow and that gives no way on counts as none: the rest would be missing unseen") func noToken() {
        #expect(Self.listing("<IsTruncated>true</IsTruncated>") == nil)
    }

    @Test(
        "What was cut off, or is another document, is no page",
        arguments: ["", "<ListBucketResult><Contents>", "<Error><Code>X</Code></Error>", "<!DOCTYPE x><ListBucketResult/>"])
    func cutOff(text: String) {
        #expect(ObjectListing(Array(text.utf8)) == nil)
    }
}
