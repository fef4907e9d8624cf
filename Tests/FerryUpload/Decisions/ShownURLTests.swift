import Testing

@testable import FerryUpload

@Suite("A URL in a message") struct ShownURLTests {
    @Test(
        "A refused URL's password is never told",
        arguments: [
            "s3://demo/p?endpoint=http://u:SECRET@h&foo=1", "s3://demo/p?aws_secret_access_key=SECRET",
            "s3:///p?endpoint=http://u:SECRET@h", "s3://demo/p?endpoint=http://u:SECRET@h&style=odd",
            "s3://u:SECRET@demo/p", "s3://demo/p?SECRET@x=1", "file://u:SECRET@h/share", "file:///a?password=SECRET",
            "https//u:SECRET@h/x", "http://u:SECRET@h:99999/{x}", "http://h/{X}?token=SECRET", "http://u:SE?CRET@h/x",
            "http://u:SECRET/x", "http:u:SECRET@h/x", "u:SECRET@h", "http://u:SE/CRET@h/{x}", "clickhouse://h/t?key=SECRET",
            "clickhouse://h/d.t?password=SECRET", "ftp://u:SECRET@h/x", "s3://b/p?endpoint=http://u:p@h:1&secret=SECRET",
            "http://u:p@h/x?k=SECRET", "http+unix://u:SECRET@x/{y}",
        ]) func refused(text: String) throws
    {
        let error = try #require(throws: DestinationURLError.self) { try Destination(text, environment: [:]) }
        #expect(!error.description.contains("SECRET"), "\(error)")
        #expect(!error.description.contains("CRET@"), "\(error)")
    }

    @Test(
        "A character that is none of a URL's is encoded, and leaves what is encoded and placeholders as they are",
        arguments: [
            ("http://h/a]b/{segment}", "/a%5Db/S"), ("http://h/ä b/%20/{segment}", "/%C3%A4%20b/%20/S"),
            ("http://h/100%/{segment}?x=[1]", "/100%25/S?x=%5B1%5D"), ("http://[::1]:80/a^b", "/a%5Eb"), ("http://h/a#b", "/a"),
        ])
    func encoding(text: String, target: String) throws {
        #expect(try DestinationURL(text).target { _ in "S" } == target)
    }

    @Test("What a query's parameters say may be a secret, but for placeholders and words of a few letters")
    func queryValues() throws {
        let url = try DestinationURL("http://h/x?token=S3CR3T&k=a%20b%20c&v=1&s={stream}&empty=")
        #expect(url.queryValues == ["S3CR3T", "S3CR3T", "a%20b%20c", "a b c"])
        #expect(try DestinationURL("http://h/x").queryValues == [])
    }

    @Test(
        "What is no secret is shown as it was given",
        arguments: [
            ("http://h:8080/a/{x}?s={stream}", "http://h:8080/a/{x}?s={stream}"),
            ("file:///mnt/@share/..", "file:///mnt/@share/.."),
            ("s3://b/p?style=odd&endpoint=http://h:7480", "s3://b/p?style=odd&endpoint=http://h:7480"),
            ("http://[::1]:99999/", "http://[::1]:99999/"), ("http://u:pw@h/x?a=1", "http://…@h/x?a=…"), ("nas", "nas"),
        ]) func shown(text: String, shown: String)
    {
        #expect(text.withoutSecrets == shown)
    }
}
