import FerrySpool
import NIOHTTP1
import Testing

@testable import FerryUpload

@Suite("Services that give keys") struct KeyServiceTests {
    @Test("By default EC2's instance metadata is asked") func usual() throws {
        #expect(try KeyService(environment: [:]) == .instance(DestinationURL("http://169.254.169.254")))
    }

    @Test("The mode IPv6 has an address of its own") func secondVersion() throws {
        let service = try KeyService(environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"])
        #expect(try service == .instance(DestinationURL("http://[fd00:ec2::254]")))
    }

    @Test("Another endpoint may be named") func endpoint() throws {
        let service = try KeyService(environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1338/"])
        #expect(try service == .instance(DestinationURL("http://127.0.0.1:1338/")))
    }

    @Test("Instance metadata can be switched off", arguments: ["true", "TRUE"]) func disabled(value: String) throws {
        #expect(try KeyService(environment: ["AWS_EC2_METADATA_DISABLED": value]) == nil)
    }

    @Test("A container's service goes before instance metadata, also where that is off") func container() throws {
        let service = try KeyService(environment: [
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/x?a=b", "AWS_EC2_METADATA_DISABLED": "true",
        ])
        #expect(try service == .container(DestinationURL("http://169.254.170.2/v2/credentials/x?a=b"), nil))
    }

    @Test("A container's token comes from its file before its variable") func authorization() throws {
        var environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Basic T",
        ]
        let url = try DestinationURL("http://169.254.170.23/v1/credentials")
        #expect(try KeyService(environment: environment) == .container(url, .text("Basic T")))
        environment["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = "/t"
        #expect(try KeyService(environment: environment) == .container(url, .file("/t")))
    }

    @Test(
        "Keys come unprotected only from near by",
        arguments: [
            ("http://127.0.0.1:80/x", true), ("http://127.8.9.1/x", true), ("http://[::1]:9/x", true),
            ("http://localhost/x", true),
            ("http://169.254.170.2/x", true), ("http://169.254.170.23/x", true), ("http://[fd00:ec2::23]/x", true),
            ("https://keys.example/x", true), ("http://keys.example/x", false), ("http://169.254.170.24/x", false),
            ("http://127.0.0.1.keys.example/x", false), ("http://[::2]/x", false), ("http://localhost.keys.example/", false),
            ("http://2130706433/x", false), ("http://[::ffff:10.0.0.1]/x", false),
        ]) func near(url: String, isTaken: Bool) throws
    {
        let service = try? KeyService(environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": url])
        #expect((service != nil) == isTaken)
    }

    @Test(
        "A variable that cannot be used is named, and nothing of it is shown",
        arguments: [
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "@elsewhere/secret"), ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "secret"),
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://me:secret@127.0.0.1/"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http+unix://%2Fsecret/"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1/?secret"),
            ("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1/{id}/secret"),
        ]) func mistakes(name: String, value: String) throws
    {
        let error = try #require(throws: DestinationURLError.self) { try KeyService(environment: [name: value]) }
        #expect(error.description.contains(name))
        #expect(!error.description.contains("secret"))
    }

    @Test("A container's token that would end its header field is none") func splitToken() throws {
        let error = try #require(throws: DestinationURLError.self) {
            try KeyService(environment: [
                "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/", "AWS_CONTAINER_AUTHORIZATION_TOKEN": "a\r\nsecret: b",
            ])
        }
        #expect(error.description.contains("AWS_CONTAINER_AUTHORIZATION_TOKEN"))
        #expect(!error.description.contains("secret"))
    }
}

@Suite("What is asked of a service that gives keys") struct KeyDialogueTests {
    private static func keys(_ expires: String = "2026-11-27T21:10:00Z", token: String = "T") -> String {
        #"{"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Token":"\#(token)","Expiration":"\#(expires)"}"#
    }

    private static func answer(_ status: Int, _ body: String, isWhole: Bool = true) -> Answer {
        Answer(status: status, headers: [:], body: Array(body.utf8), isWhole: isWhole)
    }

    private static func instance() throws -> KeyDialogue {
        KeyDialogue(try #require(try KeyService(environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://h/base/"])))
    }

    private static func container() throws -> KeyDialogue {
        KeyDialogue(
            try #require(try KeyService(environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/x?y=z"])),
            authorization: "B")
    }

    @Test("An instance's metadata are asked for a token, a role and its keys") func instance() throws {
        var dialogue = try Self.instance()
        #expect(
            dialogue.question
                == .init(
                    method: "PUT", target: "/base/latest/api/token", fields: ["X-aws-ec2-metadata-token-ttl-seconds": "60"]))
        #expect(try dialogue.take(Self.answer(200, "AQ==")) == nil)
        let fields = ["X-aws-ec2-metadata-token": "AQ=="]
        #expect(
            dialogue.question == .init(target: "/base/latest/meta-data/iam/security-credentials/", fields: fields))
        #expect(try dialogue.take(Self.answer(200, "role@x\nother")) == nil)
        #expect(
            dialogue.question == .init(target: "/base/latest/meta-data/iam/security-credentials/role%40x", fields: fields))
        let keys = try #require(try dialogue.take(Self.answer(200, Self.keys())))
        #expect(keys.credentials == S3Credentials("A", "S", "T"))
        #expect(keys.expires.rfc3339 == "2026-11-27T21:10:00.000Z")
    }

    @Test("A container's service is asked once, with what the container shows") func container() throws {
        var dialogue = try Self.container()
        #expect(dialogue.question == .init(target: "/x?y=z", fields: ["Authorization": "B"]))
        #expect(try dialogue.take(Self.answer(200, Self.keys()))?.credentials.accessKey == "A")
    }

    @Test(
        "What is no token ends it",
        arguments: [
            (404, "", "HTTP 404"), (403, "", "HTTP 403"), (301, "x", "HTTP 301"), (200, "", "token is none"),
            (200, "a\r\nb: c", "token is none"), (200, String(repeating: "x", count: 20_000), "token is none"),
        ]) func token(status: Int, body: String, problem: String) throws
    {
        var dialogue = try Self.instance()
        let error = try #require(throws: KeyServiceError.self) { try dialogue.take(Self.answer(status, body)) }
        #expect(error.description.contains(problem))
    }

    @Test(
        "An instance without a role is told",
        arguments: [
            (404, "Not Found"), (200, ""), (200, "\n"), (200, ".."), (200, "a b"), (200, "<html>"), (200, "a/../../b"),
            (200, "a\u{1}"), (200, String(repeating: "x", count: 129)),
        ]) func role(status: Int, body: String) throws
    {
        var dialogue = try Self.instance()
        _ = try dialogue.take(Self.answer(200, "AQ=="))
        let error = try #require(throws: KeyServiceError.self) { try dialogue.take(Self.answer(status, body)) }
        #expect(error.description == "this instance has no role")
    }

    @Test(
        "What holds no keys is told, and nothing of it is shown",
        arguments: [
            (#"{"AccessKeyId":"secret","Secre"#, "no JSON object"), ("", "no JSON object"), ("[]", "no JSON object"),
            (String(repeating: "[", count: 65_000), "no JSON object"), (#"{"AccessKeyId":7}"#, "no JSON object"),
            (#"{"Code":"AssumeRoleUnauthorizedAccess","Message":"secret"}"#, "it says AssumeRoleUnauthorizedAccess"),
            (#"{"Code":"a\u001b[31m"}"#, #"it says a\u001b[31m"#), (#"{"AccessKeyId":"secret"}"#, "lacks AccessKeyId or"),
            (#"{"AccessKeyId":"","SecretAccessKey":"secret"}"#, "lacks AccessKeyId or"),
            (keys(token: #"secret\r\nx: y"#), "visible ASCII"), (keys(token: #"secret\u0000"#), "visible ASCII"),
            (keys("tomorrow"), "no Expiration"), (keys("2026-13-27T21:10:00Z"), "no Expiration"),
            (keys("99999-01-01T00:00:00Z"), "no Expiration"), (keys("9999-12-31T23:59:59-12:00"), "no Expiration"),
            (#"{"AccessKeyId":"secret","SecretAccessKey":"secret"}"#, "no Expiration"),
        ]) func hostile(body: String, problem: String) throws
    {
        let error = try #require(throws: KeyServiceError.self) { try TemporaryKeys(Array(body.utf8)) }
        #expect(error.description.contains(problem), "\(error)")
        #expect(!error.description.contains("secret"))
    }

    @Test("An answer that was cut off holds none") func cutOff() throws {
        var dialogue = try Self.container()
        let error = try #require(throws: KeyServiceError.self) {
            try dialogue.take(Self.answer(200, Self.keys(), isWhole: false))
        }
        #expect(error.description.contains("cut off"))
    }
}

@Suite("When a service is asked for new keys") struct KeyRenewalTests {
    private static let failure = KeyServiceError(description: "no")

    private static func start() throws -> Timestamp { try #require(Timestamp(rfc3339: "2026-11-27T08:00:00Z")) }

    private static func at(_ seconds: Int) throws -> Moment {
        Moment(wall: try start() + .seconds(seconds), steady: .seconds(seconds))
    }

    private static func keys(_ access: String, until seconds: Int) throws -> TemporaryKeys {
        let expires = (try start() + .seconds(seconds)).rfc3339
        let json = #"{"AccessKeyId":"\#(access)","SecretAccessKey":"S","Expiration":"\#(expires)"}"#
        return try TemporaryKeys(Array(json.utf8))
    }

    /// Keys A, given at 0, which end after an hour.
    private static func given() throws -> KeyRenewal {
        var renewal = KeyRenewal()
        _ = renewal.step(at: try at(0))
        renewal.ended(.success(try keys("A", until: 3600)), at: try at(0))
        return renewal
    }

    @Test("The first asks, others wait for its answer") func first() throws {
        var renewal = KeyRenewal()
        #expect(renewal.step(at: try Self.at(0)) == .ask)
        #expect(renewal.step(at: try Self.at(0)) == .wait)
        renewal.ended(.success(try Self.keys("A", until: 3600)), at: try Self.at(0))
        #expect(renewal.step(at: try Self.at(0)) == .use)
    }

    @Test("All that waited take a failure as theirs; a second later it is asked again") func failing() throws {
        var renewal = KeyRenewal()
        _ = renewal.step(at: try Self.at(0))
        renewal.ended(.failure(Self.failure), at: try Self.at(0))
        #expect(renewal.step(at: try Self.at(0)) == .fail(Self.failure))
        #expect(renewal.step(at: try Self.at(1)) == .ask)
    }

    @Test("One that gives up lets the next ask") func givingUp() throws {
        var renewal = KeyRenewal()
        _ = renewal.step(at: try Self.at(0))
        renewal.gaveUp()
        #expect(renewal.step(at: try Self.at(0)) == .ask)
    }

    @Test("Five minutes before their end one asks, and the others go on", arguments: [(3299, false), (3300, true), (3500, true)])
    func ahead(second: Int, isAsked: Bool) throws {
        var renewal = try Self.given()
        #expect(renewal.step(at: try Self.at(second)) == (isAsked ? .ask : .use))
        #expect(renewal.step(at: try Self.at(second)) == .use)
    }

    @Test("While the service fails, the old ones are used until they end, and it is asked now and then") func outage() throws {
        var renewal = try Self.given()
        _ = renewal.step(at: try Self.at(3300))
        renewal.ended(.failure(Self.failure), at: try Self.at(3301))
        #expect(renewal.step(at: try Self.at(3302)) == .use)
        #expect(renewal.step(at: try Self.at(3331)) == .ask)
        renewal.ended(.failure(Self.failure), at: try Self.at(3599))
        #expect(renewal.step(at: try Self.at(3599)) == .use)
        #expect(renewal.step(at: try Self.at(3600)) == .ask)
        renewal.ended(.failure(Self.failure), at: try Self.at(3600))
        #expect(renewal.step(at: try Self.at(3600)) == .fail(Self.failure))
    }

    @Test("A service that fails is told once, until it gives keys again") func telling() throws {
        var renewal = try Self.given()
        #expect(renewal.untoldProblem() == nil)
        renewal.ended(.failure(Self.failure), at: try Self.at(3300))
        #expect(renewal.untoldProblem() == Self.failure)
        renewal.ended(.failure(Self.failure), at: try Self.at(3330))
        #expect(renewal.untoldProblem() == nil)
        renewal.ended(.success(try Self.keys("B", until: 7200)), at: try Self.at(3360))
        renewal.ended(.failure(Self.failure), at: try Self.at(7000))
        #expect(renewal.untoldProblem() == Self.failure)
    }

    @Test("Keys that have ended by this machine's clock alone are used when they were just given") func wrongClock() throws {
        var renewal = KeyRenewal()
        _ = renewal.step(at: try Self.at(0))
        renewal.ended(.success(try Self.keys("A", until: -7200)), at: try Self.at(0))
        #expect(renewal.step(at: try Self.at(1)) == .use)
        #expect(renewal.step(at: try Self.at(30)) == .ask)
    }

    @Test("Keys that last shorter than five minutes are not asked for with each request") func short() throws {
        var renewal = KeyRenewal()
        _ = renewal.step(at: try Self.at(0))
        renewal.ended(.success(try Self.keys("A", until: 120)), at: try Self.at(0))
        #expect(renewal.step(at: try Self.at(29)) == .use)
        #expect(renewal.step(at: try Self.at(30)) == .ask)
    }

    @Test("Whose keys are refused asks for others") func refused() throws {
        var renewal = try Self.given()
        #expect(renewal.stepAfterRefusal(at: try Self.at(100)) == .ask)
        #expect(renewal.stepAfterRefusal(at: try Self.at(100)) == .wait)
        renewal.ended(.success(try Self.keys("B", until: 7200)), at: try Self.at(100))
        #expect(renewal.wereReplaced(at: try Self.at(100)))
        // Another one whose request was signed with A.
        #expect(renewal.stepAfterRefusal(at: try Self.at(101)) == .use)
        #expect(renewal.wereReplaced(at: try Self.at(101)))
        #expect(!renewal.wereReplaced(at: try Self.at(130)))
    }

    @Test("A store that refuses all keys makes no storm of questions") func storm() throws {
        var renewal = try Self.given()
        _ = renewal.stepAfterRefusal(at: try Self.at(100))
        renewal.ended(.success(try Self.keys("A", until: 3600)), at: try Self.at(100))
        #expect(!renewal.wereReplaced(at: try Self.at(100)))
        #expect(renewal.stepAfterRefusal(at: try Self.at(129)) == .use)
        #expect(renewal.stepAfterRefusal(at: try Self.at(130)) == .ask)
    }
}
