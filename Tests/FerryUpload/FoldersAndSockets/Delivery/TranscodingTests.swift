import FerrySpool
import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Segments sent in other forms")
struct TranscodingTests {
    private let folder = TemporaryFolder()

    private static func event(_ n: Int) -> String {
        #"{"name":"e","time":"2026-11-21T03:15:02.123Z","device":{"id":"a"},"properties":{"n":\#(n)}}"# + "\n"
    }

    @Test("Events arrive compressed, in the form that was asked for", arguments: [10, 60_000])
    func form(_ count: Int) async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip((0..<count).map(Self.event).joined()), as: Segments.name())
        let received = Mutex<[ReceivedRequest]>([])
        let server = ScriptedServer.answering { request in
            received.withLock { $0.append(request) }
            return ScriptedServer.answer(200)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.body = .appCenter
        options.requestLimits = RequestLimits()
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 1)
        #expect(report.remaining == 0)
        let request = try #require(received.withLock { $0.first })
        #expect(request["content-type"] == "application/json")
        #expect(request["content-encoding"] == "gzip")
        let path = folder("body.gz")
        try OpenFile.creating(path).write(request.body)
        let body = try Segments.lines(of: .reading(path)).joined()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        #expect((object["logs"] as? [Any])?.count == count)
    }

    @Test("A segment that has no such form is rejected with its line, and kept")
    func unencodable() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Self.event(1) + "{\"title\":1}\n"), as: Segments.name())
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.body = .measurement(trackingID: "UA-1-2")
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 0)
        #expect(report.rejected == 1)
        let rejected = try #require(try spool.rejected.segments().first)
        #expect(rejected.name == name)
        #expect(rejected.reason?.kind == "not-encodable")
        #expect(rejected.reason?.message.hasPrefix("line 2 has no \"name\"") == true)
        #expect(try spool.directory.names().filter { $0.hasSuffix(".tmp") }.isEmpty)
    }
}
