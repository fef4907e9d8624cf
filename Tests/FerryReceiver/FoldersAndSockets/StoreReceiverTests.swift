import FerryReceiver
import Foundation
import ServiceSupport
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A receiver without a disk") struct StoreReceiverTests {
    private let folder = TemporaryFolder()
    private let store = SmallStore()

    private func post(
        _ bytes: [UInt8], _ port: Int, _ headers: [String: String] = [:]
    ) async throws -> (status: Int, body: String) {
        try await RawClient.post(bytes, port: port, headers: headers)
    }

    private static func fields(_ name: SegmentName) -> [String: String] {
        ["Ferry-Segment": name.fileName, "Idempotency-Key": "\"\(name.id)\"", "Ferry-Spool": "press-7"]
    }

    @Test("A segment is in the store when its sender is answered, and a duplicate at any receiver") func once() async throws {
        let server = ScriptedServer.serving(store)
        let name = Segments.name(3)
        let bytes = Segments.gzip(Segments.lines(0..<3))
        for isDuplicate in [false, true] {
            try await whileStoring(into: "logs/edge", of: server, scratch: folder) { [store] port async throws in
                let answer = try await post(bytes, port, Self.fields(name))
                #expect(answer.status == 200)
                #expect(answer.body == "{\"segment\":\"\(name.fileName)\",\"events\":3,\"duplicate\":\(isDuplicate)}\n")
                #expect(store.objects.withLock { $0["/logs/edge/2026-11-21/\(name.fileName)"]?.bytes } == bytes)
            }
        }
        #expect(store.names.count == 1)
        #expect(store.objects.withLock { $0.values.first?.fields["x-amz-meta-ferry-spool"] } == "press-7")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test("An uploader's joined segments are an object each") func joined() async throws {
        let server = ScriptedServer.serving(store)
        let spool = try folder.spool()
        for second in 0..<40 { try spool.put(Segments.gzip(Segments.lines(0..<second + 1)), as: Segments.name(second: second)) }
        try await whileStoring(into: "logs", of: server, scratch: folder) { port async throws in
            let url = try DestinationURL("http://127.0.0.1:\(port)/v1/segments")
            var options = UploadOptions(destination: url)
            options.coalesce = .upTo(.mebibytes(1))
            let report = try await UploadPass(spool, options: options).run()
            #expect(report.sent.segments == 40)
        }
        #expect(store.names.count == 40)
        let requests = store.requests.withLock(\.count)
        #expect(requests == 40)
    }

    @Test("What has another tool's name is named by its key alone, and without a key each request is new") func foreign()
        async throws
    {
        let server = ScriptedServer.serving(store)
        let bytes = Segments.gzip("{}\n")
        try await whileStoring(into: "logs", of: server, scratch: folder) { port async throws in
            for (time, isDuplicate) in [("2026-11-21T03:00:00Z", false), ("2026-11-24T03:00:00Z", true)] {
                let answer = try await post(
                    bytes, port, ["Ferry-Segment": "app.json.gz", "Idempotency-Key": "\"app~1\"", "Ferry-Created": time])
                #expect(answer.body.contains("\"duplicate\":\(isDuplicate)"), "\(answer)")
            }
            for _ in 0..<2 { #expect(try await post(bytes, port).body.contains("\"duplicate\":false")) }
        }
        #expect(store.names.count == 3)
        #expect(store.names.count { $0.hasPrefix("/logs/keyed/") } == 1)
    }

    @Test("Other bytes under a known name are refused, and the first ones stay") func conflict() async throws {
        let server = ScriptedServer.serving(store)
        let name = Segments.name(3)
        try await whileStoring(into: "logs", of: server, scratch: folder) { port async throws in
            #expect(try await post(Segments.gzip("{}\n"), port, Self.fields(name)).status == 200)
            #expect(try await post(Segments.gzip("{\"n\":1}\n"), port, Self.fields(name)).status == 422)
        }
        #expect(store.objects.withLock { $0.values.map(\.bytes) } == [Segments.gzip("{}\n")])
    }

    @Test("What is no gzip of JSON lines comes to no store") func unsound() async throws {
        let server = ScriptedServer.serving(store)
        try await whileStoring(into: "logs", of: server, scratch: folder) { port async throws in
            #expect(try await post(Array("{}\n".utf8), port).status == 400)
            #expect(try await post(Segments.gzip("{\n"), port).status == 400)
        }
        #expect(store.names == [])
    }

    @Test(
        "Where the store takes nothing, the answer asks the sender to come back, and the log tells why",
        arguments: [(503, "SlowDown"), (404, "NoSuchBucket"), (403, "SignatureDoesNotMatch"), (400, "InvalidRequest")])
    func failures(status: Int, code: String) async throws {
        let server = ScriptedServer.answering { _ in SmallStore.error(status, code) }
        let reasons = Mutex<[String]>([])
        let onEvent: @Sendable (ReceiverEvent) -> Void = { event in
            if case .refused(let refusal) = event { reasons.withLock { $0.append(refusal.reason) } }
        }
        try await whileStoring(into: "logs", of: server, scratch: folder, onEvent: onEvent) { port async throws in
            let answer = try await RawClient.wholeAnswer(to: Segments.gzip("{}\n"), port: port)
            #expect(answer.hasPrefix("HTTP/1.1 503"))
            #expect(answer.lowercased().contains("\r\nretry-after: "))
            #expect(!answer.contains(code))
        }
        #expect(reasons.withLock { $0.count == 1 && $0[0].contains(code) }, "\(reasons.withLock { $0 })")
    }

    @Test("A segment that is too large by now, and was put before, is known: its halves would be doubles") func smallerLimit()
        async throws
    {
        let server = ScriptedServer.serving(store)
        let name = Segments.name(3)
        let bytes = Segments.gzip(try Segments.noiseLines(20_000))
        let others = Segments.gzip(try Segments.noiseLines(20_000))
        try await whileStoring(into: "logs", of: server, scratch: folder) { port async throws in
            #expect(try await post(bytes, port, Self.fields(name)).status == 200)
        }
        try await whileStoring(into: "logs", of: server, scratch: folder) {
            $0.maxBody = .kibibytes(4)
        } _: { port async throws in
            #expect(try await post(bytes, port, Self.fields(name)).body.contains("\"duplicate\":true"))
            #expect(try await post(others, port, Self.fields(name)).status == 422)
            #expect(try await post(bytes, port, Self.fields(Segments.name(4))).status == 413)
        }
        try await whileStoring(into: "logs", of: server, scratch: folder) {
            $0.inflateLimit = .kibibytes(4)
        } _: { port async throws in
            #expect(try await post(bytes, port, Self.fields(name)).body.contains("\"duplicate\":true"))
            #expect(try await post(bytes, port, Self.fields(Segments.name(4))).status == 413)
        }
        #expect(store.names.count == 1)
    }

    @Test("A token that is asked for lets others in nowhere") func token() async throws {
        let server = ScriptedServer.serving(store)
        try await whileStoring(into: "logs", of: server, scratch: folder) {
            $0.token = "secret"
        } _: { port async throws in
            #expect(try await post(Segments.gzip("{}\n"), port).status == 401)
            #expect(try await post(Segments.gzip("{}\n"), port, ["Authorization": "Bearer secret"]).status == 200)
        }
        #expect(store.names.count == 1)
    }

    @Test("Without a folder for what is under way it does not start") func scratch() throws {
        let store = try ObjectStore(
            "s3://logs?endpoint=http://h", environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"])
        #expect(throws: ReceiverError.self) { try Receiver(store, scratch: folder("none"), options: ReceiverOptions()) }
    }
}
