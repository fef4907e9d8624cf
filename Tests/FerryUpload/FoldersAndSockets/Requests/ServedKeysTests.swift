import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Keys from a service") struct ServedKeysTests {
    private let folder = TemporaryFolder()

    /// A service that gives keys, as far as Ferry asks.
    private final class SmallService: Sendable {
        let requests = Mutex<[ReceivedRequest]>([])
        let keys: Mutex<String>

        init(_ access: String = "A") { keys = Mutex(access) }

        func answer(_ request: ReceivedRequest) -> String {
            requests.withLock { $0.append(request) }
            switch request.line.split(separator: " ").prefix(2).joined(separator: " ") {
            case "PUT /latest/api/token":
                return ScriptedServer.answer(request["x-aws-ec2-metadata-token-ttl-seconds"] == nil ? 400 : 200, body: "TOKEN==")
            case "GET /latest/meta-data/iam/security-credentials/":
                return ScriptedServer.answer(request["x-aws-ec2-metadata-token"] == "TOKEN==" ? 200 : 401, body: "edge")
            case "GET /latest/meta-data/iam/security-credentials/edge":
                return ScriptedServer.answer(request["x-aws-ec2-metadata-token"] == "TOKEN==" ? 200 : 401, body: json)
            case "GET /container": return ScriptedServer.answer(200, body: json)
            default: return ScriptedServer.answer(404)
            }
        }

        private var json: String {
            let expires = (Timestamp.now() + .seconds(3600)).rfc3339
            return keys.withLock {
                #"{"Code":"Success","AccessKeyId":"\#($0)","SecretAccessKey":"S","Token":"OF-\#($0)","Expiration":"\#(expires)"}"#
            }
        }

        var lines: [String] {
            requests.withLock { $0.map { $0.line.split(separator: " ").prefix(2).joined(separator: " ") } }
        }
    }

    private static func instance(_ server: ScriptedServer) -> [String: String] {
        ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(server.port)"]
    }

    private func options(_ server: ScriptedServer, _ environment: [String: String]) throws -> UploadOptions {
        var options = UploadOptions(destination: try Destination(server.bucket("logs/edge"), environment: environment))
        options.ignoresWaits = true
        return options
    }

    private static let asked = [
        "PUT /latest/api/token", "GET /latest/meta-data/iam/security-credentials/",
        "GET /latest/meta-data/iam/security-credentials/edge",
    ]

    @Test("Segments go out with the keys of the instance's role, which are asked for once") func instance() async throws {
        let service = SmallService()
        let metadata = ScriptedServer.answering { service.answer($0) }
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        for second in 0..<20 { try spool.put(Segments.gzip(Segments.lines(0..<1)), as: Segments.name(second: second)) }
        let options = try options(server, Self.instance(metadata))
        #expect(service.lines == [])
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 20)
        #expect(service.lines == Self.asked)
        let areSigned = store.requests.withLock { requests in
            requests.allSatisfy {
                $0["authorization"]?.contains("Credential=A/") ?? false && $0["x-amz-security-token"] == "OF-A"
            }
        }
        #expect(areSigned)
    }

    @Test("Where other credentials are, no service is asked") func others() async throws {
        let service = SmallService()
        let metadata = ScriptedServer.answering { service.answer($0) }
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        let environment = Self.instance(metadata).merging(["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "S"]) { $1 }
        let options = try options(server, environment)
        try await options.destination.findCredentials()
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 1)
        #expect(service.lines == [])
    }

    @Test(
        "Keys that the store calls expired are asked for anew at once", arguments: [(400, "ExpiredToken"), (403, "InvalidToken")])
    func expired(status: Int, code: String) async throws {
        let service = SmallService("OLD")
        let metadata = ScriptedServer.answering { service.answer($0) }
        let store = SmallStore()
        let server = ScriptedServer.answering { request in
            guard request["authorization"]?.contains("Credential=NEW/") ?? false else {
                service.keys.withLock { $0 = "NEW" }
                return SmallStore.error(status, code)
            }
            return String(decoding: store.answer(request), as: UTF8.self)
        }
        let options = try options(server, Self.instance(metadata))
        let spool = try folder.spool()
        for second in 0..<20 { try spool.put(Segments.gzip(Segments.lines(0..<1)), as: Segments.name(second: second)) }
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 20)
        #expect(service.lines == Self.asked + Self.asked)
    }

    @Test("Many that need keys at the same time wait for one answer") func together() async throws {
        let service = SmallService()
        let metadata = ScriptedServer.answering { request in
            usleep(50_000)
            return service.answer(request)
        }
        let keys = ServedKeys(try #require(try KeyService(environment: Self.instance(metadata))))
        let problems = await withTaskGroup(of: KeyServiceError?.self) { group in
            for _ in 0..<64 { group.addTask { await keys.renew(at: .now(), by: KeyClient.ask) } }
            return await group.reduce(into: 0) { $0 += $1 == nil ? 0 : 1 }
        }
        #expect(problems == 0)
        #expect(service.lines == Self.asked)
    }

    @Test("One that is cancelled while it asks leaves the question to those that wait") func cancelled() async throws {
        let service = SmallService()
        let isHeld = Mutex(true)
        let arrived = Mutex(0)
        let metadata = ScriptedServer { peer in
            while let request = peer.request() {
                arrived.withLock { $0 += 1 }
                if isHeld.withLock({ $0 }) { return peer.waitForEnd() }
                peer.send(service.answer(request))
            }
        }
        let keys = ServedKeys(try #require(try KeyService(environment: Self.instance(metadata))))
        let first = Task { await keys.renew(at: .now(), by: KeyClient.ask) }
        try await eventually("the service is asked") { arrived.withLock { $0 } == 1 }
        let second = Task { await keys.renew(at: .now(), by: KeyClient.ask) }
        isHeld.withLock { $0 = false }
        first.cancel()
        #expect(await first.value?.description == "stopped")
        #expect(await second.value == nil)
    }

    @Test("A container's service gets the token that its file holds now") func container() async throws {
        let service = SmallService()
        let server = ScriptedServer.answering { service.answer($0) }
        let path = folder("token")
        let keys = ServedKeys(
            try #require(
                try KeyService(environment: [
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:\(server.port)/container",
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path,
                ])))
        try "Bearer x\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(await keys.renew(at: .now(), by: KeyClient.ask) == nil)
        #expect(service.requests.withLock { $0.map { $0["authorization"] } } == ["Bearer x"])
    }

    @Test("A token file that holds none is told without its content", arguments: ["", "a\nsecret", "\n\n"])
    func badTokenFile(content: String) async throws {
        let path = folder("token")
        try content.write(toFile: path, atomically: true, encoding: .utf8)
        let keys = ServedKeys(
            try #require(
                try KeyService(environment: [
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:9/", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": path,
                ])))
        let error = try #require(await keys.renew(at: .now(), by: KeyClient.ask))
        #expect(error.description.contains("\(path) holds no token"))
        #expect(!error.description.contains("secret"))
    }

    @Test("A machine that is no instance is told so, as before, and nothing is tried") func none() async throws {
        let port = LoopbackPort.own()
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(port)"]
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let options = try options(server, environment)
        let error = await #expect(throws: DestinationURLError.self) { try await options.destination.findCredentials() }
        #expect(error?.description.hasPrefix("an s3:// destination needs credentials: AWS_ACCESS_KEY_ID") ?? false)
        #expect(error?.description.contains("EC2's instance metadata (http://127.0.0.1:\(port)) gives none") ?? false)
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.remaining == 1)
        #expect(store.requests.withLock { $0.isEmpty })
        // No try of the segment.
        #expect(try spool.scan().entries.allSatisfy { !$0.hasSidecar })
    }

    @Test(
        "A service that answers badly gives no keys, and is followed nowhere",
        arguments: [
            (ScriptedServer.answer(302, "Location: /latest/meta-data/iam/security-credentials/edge\r\n"), "HTTP 302"),
            (ScriptedServer.answer(200, body: String(repeating: "x", count: 1 << 20)), "cut off, or has more than"),
            (ScriptedServer.answer(404), "HTTP 404"), ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nTOK", "cut off"),
            ("no HTTP\r\n\r\n", "no HTTP"),
        ]) func bad(answer: String, problem: String) async throws
    {
        let count = Mutex(0)
        let metadata = ScriptedServer { peer in
            guard peer.request() != nil else { return }
            count.withLock { $0 += 1 }
            peer.send(answer)
        }
        let keys = ServedKeys(try #require(try KeyService(environment: Self.instance(metadata))))
        let error = try #require(await keys.renew(at: .now(), by: KeyClient.ask))
        #expect(error.description.contains(problem), "\(error)")
        #expect(count.withLock { $0 } == 1)
    }

    @Test("A service that takes a question and never answers is given up") func hangs() async throws {
        let metadata = ScriptedServer { peer in peer.waitForEnd() }
        let keys = ServedKeys(try #require(try KeyService(environment: Self.instance(metadata))))
        let error = try #require(await keys.renew(at: .now(), by: KeyClient.ask))
        #expect(error.isUnreachable)
    }

    @Test("What goes to the store through a proxy asks the service directly") func proxy() async throws {
        let service = SmallService()
        let metadata = ScriptedServer.answering { service.answer($0) }
        let store = SmallStore()
        let proxy = ScriptedServer.serving(store)
        var options = UploadOptions(
            destination: try Destination("s3://logs/edge?endpoint=http://store.invalid", environment: Self.instance(metadata)))
        options.transport.proxies = try ProxySettings(environment: ["HTTP_PROXY": "http://127.0.0.1:\(proxy.port)"])
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 1)
        #expect(service.lines == Self.asked)
        let areByProxy = store.requests.withLock { $0.allSatisfy { $0.line.contains("http://store.invalid/") } }
        #expect(areByProxy)
    }

    @Test("A store is read with a service's keys, too") func reading() async throws {
        let service = SmallService()
        let metadata = ScriptedServer.answering { service.answer($0) }
        let small = SmallStore()
        let server = ScriptedServer.serving(small)
        let store = try ObjectStore(server.bucket("logs/edge"), environment: Self.instance(metadata))
        var reader = store.reader()
        try await reader.check(store.namesBegin)
        #expect(service.lines == Self.asked)
        #expect(small.requests.withLock { $0.map { $0["x-amz-security-token"] } } == ["OF-A"])
    }
}
