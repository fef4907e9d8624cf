import FerrySpool
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

@Suite("Delivery into an object store") struct S3DeliveryTests {
    private let folder = TemporaryFolder()
    private static let keys = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"]

    private func options(_ server: ScriptedServer, _ prefix: String = "edge", credentials: String? = nil) throws -> UploadOptions
    {
        var options = UploadOptions(
            destination: try Destination(
                "s3://logs/\(prefix)?endpoint=http://127.0.0.1:\(server.port)", environment: credentials == nil ? Self.keys : [:],
                credentialsFile: credentials))
        options.parallel = 1
        options.ignoresWaits = true
        return options
    }

    @Test("A segment becomes an object of its day, byte for byte, with what it holds in its metadata") func put() async throws {
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        let name = Segments.name(3)
        let bytes = Segments.gzip(Segments.lines(0..<3))
        try spool.put(bytes, as: name)
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(report.sent.segments == 1)
        let object = try #require(store.objects.withLock { $0["/logs/edge/\(name.created.day)/\(name.fileName)"] })
        #expect(object.bytes == Array(bytes))
        #expect(object.fields["x-amz-meta-ferry-spool"] == spool.id)
        let request = try #require(store.requests.withLock { $0.first })
        #expect(request["content-encoding"] == nil)
        #expect(request["x-amz-content-sha256"] == ContentHash.of(bytes).hexadecimal)
        #expect(request["authorization"]?.hasPrefix("AWS4-HMAC-SHA256 Credential=A/") ?? false)
        #expect(request["idempotency-key"] == nil)
    }

    @Test("A look with a clock that is off is made again by the store's") func skewedLook() async throws {
        let dates = Mutex<[String]>([])
        let server = ScriptedServer.answering { request in
            let date = request["x-amz-date"] ?? ""
            dates.withLock { $0.append(date) }
            return date.hasPrefix("20300101T0000")
                ? ScriptedServer.answer(200)
                : "HTTP/1.1 403 X\r\nDate: Tue, 01 Jan 2030 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"
        }
        #expect(try await DestinationLook(options(server)).run() == .good("the bucket logs is there"))
        #expect(dates.withLock(\.count) == 2)
    }

    @Test("A look with keys that are wrong says so, by any clock") func wrongKeys() async throws {
        let server = ScriptedServer.answering { _ in
            "HTTP/1.1 403 X\r\nDate: Tue, 01 Jan 2030 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"
        }
        guard case .bad(let text) = try await DestinationLook(options(server)).run() else {
            return #expect(Bool(false), "it is let in")
        }
        #expect(text.contains("the keys are wrong"))
    }

    @Test("Small segments are objects of their own, never joined") func apart() async throws {
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        for second in 0..<20 { try spool.put(Segments.gzip(Segments.lines(0..<1)), as: Segments.name(second: second)) }
        var options = try options(server)
        options.coalesce = .upTo(.mebibytes(1))
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 20)
        #expect(store.objects.withLock(\.count) == 20)
    }

    @Test("When the answer is lost, the object that is there already ends the segment") func lostAnswer() async throws {
        let store = SmallStore()
        let lost = Mutex(false)
        let server = ScriptedServer { peer in
            while let request = peer.request() {
                let answer = store.answer(request)
                let isFirst = lost.withLock { lost in
                    defer { lost = true }
                    return !lost
                }
                if isFirst { return peer.shutDown() }
                if !peer.send(answer) { return }
            }
        }
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        for _ in 0..<3 where try spool.scan().entries.isEmpty == false {
            _ = try await UploadPass(spool, options: options(server)).run()
        }
        #expect(try spool.scan().entries.isEmpty)
        #expect(store.objects.withLock(\.count) == 1)
        #expect(store.requests.withLock { $0.map { String($0.line.prefix(3)) } } == ["PUT", "PUT", "HEA"])
    }

    @Test("A store that ignores the condition gets the same bytes under the same name") func unconditional() async throws {
        let store = SmallStore(isConditional: false)
        let server = ScriptedServer.serving(store)
        let name = Segments.name(3)
        for place in ["a", "b"] {
            let spool = try folder.spool(place)
            try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
            #expect(try await UploadPass(spool, options: options(server)).run().sent.segments == 1)
        }
        #expect(store.objects.withLock(\.count) == 1)
    }

    @Test("Where another object has the name, the segment is kept and the reason told") func taken() async throws {
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        let name = Segments.name(3)
        store.objects.withLock { $0["/logs/edge/\(name.created.day)/\(name.fileName)"] = .init(bytes: [1, 2], fields: [:]) }
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(report.rejected == 1)
        #expect(store.objects.withLock { $0.values.map(\.bytes) } == [[1, 2]])
    }

    @Test("An object that another tool put ends the segment when its bytes are the same") func putByOthers() async throws {
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        let name = Segments.name(3)
        let bytes = Segments.gzip(Segments.lines(0..<3))
        store.objects.withLock { $0["/logs/edge/\(name.created.day)/\(name.fileName)"] = .init(bytes: Array(bytes), fields: [:]) }
        try spool.put(bytes, as: name)
        #expect(try await UploadPass(spool, options: options(server)).run().sent.segments == 1)
    }

    @Test("Where it redirects out of the store, nothing follows: what lets a request in would go along") func redirected()
        async throws
    {
        let other = Mutex(0)
        let elsewhere = ScriptedServer.answering { _ in
            other.withLock { $0 += 1 }
            return ScriptedServer.answer(200)
        }
        let server = ScriptedServer.answering { _ in
            ScriptedServer.answer(307, "Location: http://127.0.0.1:\(elsewhere.port)/x\r\n")
        }
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        let report = try await UploadPass(spool, options: options(server)).run()
        guard case .misconfigured = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(report.remaining == 1)
        #expect(other.withLock { $0 } == 0)
    }

    @Test("With a clock that is hours off, requests are signed with the store's time, and a person is told") func skew()
        async throws
    {
        let store = SmallStore()
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let ahead = Date(timeIntervalSinceNow: 7200)
        let (date, hour) = (formatter.string(from: ahead), RequestSignature.date(.now() + .seconds(7200)).prefix(11))
        let server = ScriptedServer.answering { request in
            guard request["x-amz-date"]?.hasPrefix(hour) ?? false else {
                return SmallStore.error(403, "RequestTimeTooSkewed", "Date: \(date)\r\n")
            }
            return String(decoding: store.answer(request), as: UTF8.self)
        }
        let spool = try folder.spool()
        for second in 0..<2 { try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(second: second)) }
        let told = Mutex<[String]>([])
        let report = try await UploadPass(
            spool, options: options(server),
            onEvent: { event in if case .warning(let text) = event { told.withLock { $0.append(text) } } }
        ).run()
        #expect(report.sent.segments == 2)
        // Of all segments one, and the first.
        #expect(told.withLock(\.count) == 1)
        #expect(told.withLock { $0.contains { $0.contains("its clock is") && $0.contains("ahead of this machine's") } })
    }

    @Test("A credentials file that is no small file is told in a line, and read no further") func largeCredentials() throws {
        let path = folder("credentials")
        try String(repeating: "x = y\n", count: 20_000).write(toFile: path, atomically: true, encoding: .utf8)
        let error = try #require(throws: DestinationURLError.self) { try Destination("s3://logs", credentialsFile: path) }
        #expect(error.description.contains("is larger than"), "\(error)")
    }

    @Test("Keys that were replaced work at once", arguments: [(403, "InvalidAccessKeyId"), (400, "ExpiredToken")])
    func mendedKeys(status: Int, code: String) async throws {
        let store = SmallStore()
        let path = folder("credentials")
        func write(_ access: String) throws {
            try "[default]\naws_access_key_id = \(access)\naws_secret_access_key = S\n".write(
                toFile: path, atomically: true, encoding: .utf8)
        }
        try write("OLD")
        let server = ScriptedServer.answering { request in
            guard request["authorization"]?.contains("Credential=NEW/") ?? false else {
                return SmallStore.error(status, code)
            }
            return String(decoding: store.answer(request), as: UTF8.self)
        }
        let options = try options(server, credentials: path)
        try write("NEW")
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: Segments.name(3))
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 1)
    }

    @Test("Files of one name with other content stay apart with {key} in the prefix") func key() async throws {
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        for number in 0..<2 {
            let path = folder("spool/app.json.gz")
            try Data(Segments.gzip("{\"n\":\(number)}\n")).write(to: URL(fileURLWithPath: path))
            let report = try await UploadPass(
                spool, options: options(server, "{key}-{segment}"), now: { .now() + .seconds(3600) }
            ).run()
            #expect(report.sent.segments == 1)
        }
        #expect(store.objects.withLock(\.count) == 2)
    }

    @Test("Two machines' files of one name stay apart with {machine} in the prefix") func machine() async throws {
        let store = SmallStore()
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        let name = Segments.name(3, stream: "dns")
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
        _ = try await UploadPass(spool, options: options(server, "{machine}/{stream}/{hour}")).run()
        let key = try #require(store.objects.withLock { $0.keys.first })
        let parts = key.split(separator: "/")
        #expect(parts.count == 5)
        #expect(parts[2...].joined(separator: "/") == "dns/\(name.created.hour)/\(name.fileName)")
    }
}
