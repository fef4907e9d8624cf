import FerrySpool
import NIOHTTP1
import Testing

@testable import FerryUpload

/// The examples of AWS's own documents: "Authenticating Requests: Using the Authorization Header" (S3) and the Signature Version 4 test suite.
@Suite("Signature Version 4") struct RequestSignatureTests {
    private static let credentials = S3Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", nil)
    private static let host = (name: "Host", value: "examplebucket.s3.amazonaws.com")
    private static let date = (name: "x-amz-date", value: "20130524T000000Z")
    private static var time: Timestamp { get throws { try #require(Timestamp(rfc3339: "2013-05-24T00:00:00Z")) } }

    private static func hash(_ payload: String) -> (name: String, value: String) { ("x-amz-content-sha256", payload) }

    @Test("An object is put as in the S3 documentation's example") func put() throws {
        let payload = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"
        let signature = RequestSignature(
            method: "PUT", path: "/test%24file.text",
            fields: [
                ("Date", "Fri, 24 May 2013 00:00:00 GMT"), Self.host, Self.date, ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
                Self.hash(payload),
            ], payload: payload, region: "us-east-1", time: try Self.time)
        #expect(
            signature.authorization(Self.credentials)
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
                + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test("A part of an object is got as in the S3 documentation's example") func get() throws {
        let payload = RequestSignature.emptyPayload
        let signature = RequestSignature(
            method: "GET", path: "/test.txt", fields: [Self.host, ("Range", "bytes=0-9"), Self.hash(payload), Self.date],
            payload: payload, region: "us-east-1", time: try Self.time)
        #expect(
            signature.signature(Self.credentials.secretKey) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test("A bucket is listed as in the S3 documentation's example") func list() throws {
        let payload = RequestSignature.emptyPayload
        let signature = RequestSignature(
            method: "GET", path: "/", query: [("prefix", "J"), ("max-keys", "2")],
            fields: [Self.host, Self.hash(payload), Self.date],
            payload: payload, region: "us-east-1", time: try Self.time)
        #expect(
            signature.signature(Self.credentials.secretKey) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test("The test suite's plainest request has the suite's signature") func vanilla() throws {
        let signature = RequestSignature(
            method: "GET", path: "/", fields: [("Host", "example.amazonaws.com"), ("X-Amz-Date", "20150830T123600Z")],
            payload: RequestSignature.emptyPayload, region: "us-east-1", service: "service",
            time: try #require(Timestamp(rfc3339: "2015-08-30T12:36:00Z")))
        #expect(
            signature.signature("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
                == "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
    }
}

@Suite("A bucket's URL") struct S3LocationTests {
    private static func location(_ text: String, _ environment: [String: String] = [:]) throws -> S3Location {
        try S3Location(text, environment: environment)
    }

    @Test(
        "Objects go where bucket, prefix, endpoint and style say",
        arguments: [
            ("s3://logs", "https://logs.s3.us-east-1.amazonaws.com/%7Bday%7D/%7Bsegment%7D"),
            ("s3://logs/edge/", "https://logs.s3.us-east-1.amazonaws.com/edge/%7Bday%7D/%7Bsegment%7D"),
            ("s3://logs?region=eu-west-1", "https://logs.s3.eu-west-1.amazonaws.com/%7Bday%7D/%7Bsegment%7D"),
            ("s3://my.logs/a", "https://s3.us-east-1.amazonaws.com/my.logs/a/%7Bday%7D/%7Bsegment%7D"),
            ("s3://logs/a?endpoint=http://ceph:7480", "http://ceph:7480/logs/a/%7Bday%7D/%7Bsegment%7D"),
            ("s3://logs/a?endpoint=http://ceph:7480&style=virtual", "http://logs.ceph:7480/a/%7Bday%7D/%7Bsegment%7D"),
            ("s3://logs/{machine}/{stream}", "https://logs.s3.us-east-1.amazonaws.com/%7Bmachine%7D/%7Bstream%7D/%7Bsegment%7D"),
            (
                "s3://logs/a b/{day}/{hour}/x-{id}.gz",
                "https://logs.s3.us-east-1.amazonaws.com/a%20b/%7Bday%7D/%7Bhour%7D/x-%7Bid%7D.gz"
            ),
        ]) func places(text: String, url: String) throws
    {
        let location = try Self.location(text)
        #expect("\(location.url.origin)\(location.url.target)" == url)
    }

    @Test("What the URL leaves out, AWS's own variables say") func environment() throws {
        let location = try Self.location("s3://logs", ["AWS_ENDPOINT_URL": "http://one:1", "AWS_REGION": "moon"])
        #expect("\(location.url.origin)" == "http://one:1")
        #expect(location.region == "moon")
        let own = try Self.location("s3://logs", ["AWS_ENDPOINT_URL_S3": "http://two:2", "AWS_ENDPOINT_URL": "http://one:1"])
        #expect("\(own.url.origin)" == "http://two:2")
        let said = try Self.location(
            "s3://logs?endpoint=http://three:3&region=mars", ["AWS_ENDPOINT_URL_S3": "http://two:2", "AWS_REGION": "moon"])
        #expect("\(said.url.origin)" == "http://three:3")
        #expect(said.region == "mars")
    }

    @Test("The ledger tells one store's bucket from another's") func description() throws {
        #expect(try Self.location("s3://logs/a/?region=eu-west-1").description == "s3://logs/a")
        #expect(
            try Self.location("s3://logs/a?endpoint=http://ceph:7480/").description == "s3://logs/a?endpoint=http://ceph:7480")
    }

    @Test("Class, encryption and tags become header fields") func storage() throws {
        let location = try Self.location("s3://logs?class=STANDARD_IA&sse=aws:kms&kms-key=k1&tag=team:ocean%20deep&tag=a:b")
        #expect(
            location.storage.map { "\($0.name): \($0.value)" } == [
                "x-amz-storage-class: STANDARD_IA", "x-amz-server-side-encryption: aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id: k1", "x-amz-tagging: team=ocean%20deep&a=b",
            ])
    }

    @Test(
        "What is no bucket's URL is told in a line",
        arguments: [
            ("s3://", "names no bucket"), ("s3:///a", "names no bucket"), ("s3://b ucket", "names no bucket"),
            ("s3://b?style=odd", "style must be path or virtual"), ("s3://b?colour=red", "'colour=…' is none of endpoint=…"),
            ("s3://b?region=a%0d%0ab", "'region' has other than printable"), ("s3://b?region=a/b", "region must be like"),
            ("s3://b?endpoint=ftp://h", "the endpoint 'ftp://h' must be like"), ("s3://b?endpoint=http://h/?x=1", "must be like"),
            ("s3://b?region=a&region=c", "has 'region' more than once"), ("s3://b?tag=x", "tag must be like"),
            ("s3://b/{colour}", "'s3://b/{colour}' has an unknown placeholder"), ("s3://b/a{day", "unknown placeholder"),
            ("s3:/logs", "names no bucket"), ("s3:logs", "names no bucket"), ("s3://A:secret@logs/x", "holds credentials"),
            ("s3://logs?endpoint=http://me:secret@h", "holds credentials"),
            ("s3://b?endpoint=http://[::1]:7480&style=virtual", "leave style=virtual out"),
            ("s3://b?endpoint=http://127.0.0.1:7480&style=virtual", "leave style=virtual out"),
            ("s3://b?kms-key=k", "kms-key needs sse=aws:kms"),
            ("s3://b/" + String(repeating: "x", count: 1000), "the prefix has 1000 bytes"),
        ]) func mistakes(text: String, problem: String) throws
    {
        let error = try #require(throws: DestinationURLError.self) { try Self.location(text) }
        #expect(error.description.contains(problem), "\(error)")
        #expect(!error.description.contains("secret"))
    }
}

@Suite("Credentials of an object store") struct S3CredentialsTests {
    private static let file = """
        \u{feff}[default] ; of the edge
        # first
        aws_access_key_id = A1 # the old one
        aws_secret_access_key=S/1=+
        [ profile two ]
        aws_access_key_id = wrong

        [two]
        AWS_ACCESS_KEY_ID = A2\r
        aws_secret_access_key = S2
        aws_session_token = T2
        [half]
        aws_access_key_id = A3
        """

    @Test("A profile is read as AWS's tools read it") func profiles() throws {
        #expect(try S3Credentials(profile: "default", in: Self.file, of: "f") == S3Credentials("A1", "S/1=+", nil))
        #expect(try S3Credentials(profile: "two", in: Self.file, of: "f") == S3Credentials("A2", "S2", "T2"))
    }

    @Test(
        "What a file lacks is told in a line",
        arguments: [("none", "f has no [none]"), ("half", "f: [half] needs aws_access_key_id and aws_secret_access_key")])
    func lacking(profile: String, problem: String) throws {
        let error = try #require(throws: DestinationURLError.self) { try S3Credentials(profile: profile, in: Self.file, of: "f") }
        #expect(error.description.hasPrefix(problem), "\(error)")
    }

    @Test("A key that would end its header field is none") func split() throws {
        let text = "[default]\naws_access_key_id = A\u{1}B\naws_secret_access_key = S\n"
        #expect(throws: DestinationURLError.self) { try S3Credentials(profile: "default", in: text, of: "f") }
    }

    @Test("Variables without a value are no credentials") func variables() {
        #expect(S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "S"]) == nil)
        #expect(S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "A"]) == nil)
        #expect(
            S3Credentials(environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T"])
                == S3Credentials("A", "S", "T"))
    }
}

@Suite("What an object store's answer means") struct S3AnswerTests {
    private static let put = DeliveryStep(method: "PUT")
    private static let look = DeliveryStep(method: "HEAD", carriesBody: false, comparesBody: true, number: 1)
    private static let digest = BodyDigest(hexadecimal: String(repeating: "ab", count: 32))
    private static let size = ByteCount(100)

    private static func action(
        _ status: Int, _ code: String? = nil, _ fields: [(String, String)] = [("etag", "\"x\"")], after step: DeliveryStep = put,
        asksForStorage: Bool = false, space: Int = 0, cutAfter length: Int = .max
    ) throws -> S3Answer.Action {
        let error = code.map { "<Error><Code>\($0)</Code><Message>so it is</Message></Error>" }
        let body = error.map { "<?xml version=\"1.0\"?>\(String(repeating: " ", count: space))\($0)" } ?? ""
        let answer = Answer(
            status: status, headers: HTTPHeaders(fields), body: Array(body.utf8.prefix(length)), isWhole: length == .max,
            isToWholeRequest: true)
        let now = try #require(Timestamp(rfc3339: "2026-11-27T08:00:00Z"))
        return S3Answer(answer, at: now).action(
            after: step, .init(size: size, digest: digest, md5: [UInt8](repeating: 0xcd, count: 16)),
            asksForStorage: asksForStorage)
    }

    /// A word for a verdict.
    private static func word(_ action: S3Answer.Action) -> String {
        guard case .verdict(let verdict) = action else { return "\(action)" }
        return "\(verdict)".prefix { $0 != "(" }.description
    }

    @Test(
        "A code says more than its status",
        arguments: [
            (200, nil, "delivered"), (503, "SlowDown", "unavailable"), (503, "ServiceUnavailable", "unavailable"),
            (403, "QuotaExceeded", "unavailable"), (500, "InternalError", "doubtful"),
            (409, "ConditionalRequestConflict", "doubtful"),
            (409, "OperationAborted", "doubtful"), (400, "BadDigest", "doubtful"), (400, "XAmzContentSHA256Mismatch", "doubtful"),
            (400, "RequestTimeout", "doubtful"), (400, "IncompleteBody", "doubtful"), (400, "EntityTooLarge", "tooLarge"),
            (404, "NoSuchBucket", "misconfigured"), (403, "SignatureDoesNotMatch", "misconfigured"),
            (403, "InvalidAccessKeyId", "misconfigured"), (403, "AccessDenied", "misconfigured"), (403, nil, "misconfigured"),
            (400, "ExpiredToken", "misconfigured"), (400, "AuthorizationHeaderMalformed", "misconfigured"),
            (301, "PermanentRedirect", "misconfigured"), (400, "InvalidStorageClass", "misconfigured"),
            (400, "XMinioAdminBucketQuotaExceeded", "unavailable"), (400, "ThrottlingException", "unavailable"),
            (507, "XMinioStorageFull", "unavailable"), (400, "KMS.DisabledException", "misconfigured"),
            (403, "Whatever", "misconfigured"), (400, "UnrecognizedClientException", "misconfigured"),
            (502, nil, "doubtful"), (503, nil, "doubtful"),
        ] as [(Int, String?, String)]) func codes(status: Int, code: String?, word: String) throws
    {
        #expect(Self.word(try Self.action(status, code)) == word)
    }

    @Test(
        "What may be about one object or about all is not for one answer to tell", arguments: ["KeyTooLongError", "Unheard", nil])
    func unknown(code: String?) throws { #expect(Self.word(try Self.action(400, code)) == "doubtful") }

    @Test("Where class, encryption or tags are asked for, an invalid argument is one of them") func argument() throws {
        #expect(Self.word(try Self.action(400, "InvalidArgument")) == "doubtful")
        #expect(Self.word(try Self.action(400, "InvalidArgument", asksForStorage: true)) == "misconfigured")
    }

    @Test("A success with an error in it, or without an ETag, is no delivery") func oddSuccess() throws {
        #expect(Self.word(try Self.action(200, "InternalError")) == "doubtful")
        #expect(Self.word(try Self.action(200, "Unheard")) == "doubtful")
        #expect(Self.word(try Self.action(200, nil, [])) == "doubtful")
    }

    @Test("A success that is cut off, or tells of an error late, is no delivery") func late() throws {
        #expect(Self.word(try Self.action(200, "InternalError", space: 50_000)) == "doubtful")
        for length in [0, 10, 40, 60] {
            #expect(Self.word(try Self.action(200, "InternalError", cutAfter: length)) == "doubtful", "\(length)")
        }
    }

    @Test("A refusal that is cut off does not say what must be mended", arguments: [401, 403, 404]) func cutOff(status: Int)
        throws
    {
        for length in [0, 30, 45] {
            #expect(Self.word(try Self.action(status, "SlowDown", cutAfter: length)) == "doubtful", "\(length)")
        }
        #expect(Self.word(try Self.action(status)) == "misconfigured")
    }

    @Test("In another region the answer's own word says which") func region() throws {
        let action = try Self.action(301, "PermanentRedirect", [("x-amz-bucket-region", "eu-west-1")])
        guard case .verdict(.misconfigured(let reason)) = action else { return #expect(Bool(false), "\(action)") }
        #expect(reason.message.contains("add ?region=eu-west-1"))
    }

    @Test("Where the name is taken, the object is looked at") func taken() throws {
        #expect(
            try Self.action(412, "PreconditionFailed")
                == .ask(DeliveryStep(method: "HEAD", carriesBody: false, comparesBody: true)))
    }

    @Test("The same bytes under the name are this segment, delivered before") func same() throws {
        let hex = String(repeating: "ab", count: 32)
        let (size, tag) = (("content-length", "100"), ("etag", "\"other\""))
        #expect(
            try Self.action(200, nil, [size, tag, (S3Answer.digestField, hex)], after: Self.look)
                == .verdict(.delivered(status: 412)))
        let md5 = ("etag", "\"\(String(repeating: "cd", count: 16))\"")
        #expect(try Self.action(200, nil, [size, md5], after: Self.look) == .verdict(.delivered(status: 412)))
        let base64 = "q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s="
        #expect(
            try Self.action(200, nil, [size, tag, ("x-amz-checksum-sha256", base64)], after: Self.look)
                == .verdict(.delivered(status: 412)))
    }

    @Test(
        "Other bytes under the name are another object: the segment is kept, and told",
        arguments: [
            [("content-length", "99"), (S3Answer.digestField, String(repeating: "ab", count: 32))],
            [("content-length", "100"), (S3Answer.digestField, String(repeating: "cd", count: 32))],
            [("content-length", "100")], [("content-length", "0")],
        ]) func different(fields: [(String, String)]) throws
    {
        #expect(Self.word(try Self.action(200, nil, fields + [("etag", "\"x\"")], after: Self.look)) == "refused")
    }

    @Test(
        "What tells nothing of the object ends no segment",
        arguments: [(204, true), (200, false), (400, true), (412, true), (500, true)])
    func unclear(status: Int, hasTag: Bool) throws {
        let fields = [("content-length", "100")] + (hasTag ? [("etag", "\"x\"")] : [])
        #expect(Self.word(try Self.action(status, nil, fields, after: Self.look)) == "doubtful")
    }

    @Test("An object that is gone when it is looked at is put the next time") func gone() throws {
        #expect(Self.word(try Self.action(404, "NoSuchKey", after: Self.look)) == "doubtful")
    }

    @Test("What may be put but not read waits alone, and says which right is missing") func unreadable() throws {
        let action = try Self.action(403, nil, after: Self.look)
        guard case .verdict(.doubtful(let reason)) = action else { return #expect(Bool(false), "\(action)") }
        #expect(reason.message.contains("s3:GetObject is needed"))
    }

    @Test("A length that a proxy left out is not needed where a hash tells") func withoutLength() throws {
        let hex = String(repeating: "ab", count: 32)
        let fields = [("etag", "\"x\""), (S3Answer.digestField, hex)]
        #expect(try Self.action(200, nil, fields, after: Self.look) == .verdict(.delivered(status: 412)))
        #expect(Self.word(try Self.action(200, nil, [("etag", "\"x\"")], after: Self.look)) == "doubtful")
    }

    @Test("When a store says when to come back, also of a look, it is heeded") func putOff() throws {
        let action = try Self.action(503, nil, [("retry-after", "300")], after: Self.look)
        guard case .verdict(.unavailable(_, retryAfter: .seconds(300))) = action else { return #expect(Bool(false), "\(action)") }
    }

    @Test("Where the clocks differ, the store's own time signs, once") func skew() throws {
        let date = [("date", "Fri, 27 Nov 2026 10:00:00 GMT")]
        #expect(try Self.action(403, "RequestTimeTooSkewed", date) == .setClock(ahead: .seconds(7200), Self.put))
        var again = Self.put
        again.number = 1
        #expect(Self.word(try Self.action(403, "RequestTimeTooSkewed", date, after: again)) == "misconfigured")
        #expect(Self.word(try Self.action(403, "RequestTimeTooSkewed")) == "misconfigured")
    }
}
