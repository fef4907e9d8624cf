import FerrySpool
import FerryUpload
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a server was sent, and what the pass that sent it said.
final class CollectorRun: Sendable {
    let bodies = Mutex<[String]>([])
    let warnings = Mutex<[String]>([])

    /// Sends what waits in a spool to a server that answers by the number of the request, from 0.
    func upload(
        _ spool: Spool, as body: BodyFormat, _ change: (inout UploadOptions) -> Void = { _ in },
        _ answer: @escaping @Sendable (Int, ReceivedRequest) -> String
    ) async throws -> UploadReport {
        let server = ScriptedServer.answering { request in
            let text = (try? OpenFile.inMemory()).flatMap { file in
                (try? file.write(request.body)).flatMap { try? Segments.lines(of: file).joined(separator: "\n") }
            }
            let number = self.bodies.withLock { bodies in
                bodies.append(text ?? "")
                return bodies.count - 1
            }
            return answer(number, request)
        }
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.body = body
        options.parallel = 1
        options.ignoresWaits = true
        change(&options)
        return try await UploadPass(
            spool, options: options,
            onEvent: { event in
                if case .warning(let text) = event { self.warnings.withLock { $0.append(text) } }
            }
        ).run()
    }

    static func answer(_ body: String, status: Int = 200) -> String {
        ScriptedServer.answer(status, "Content-Type: application/json\r\n", body: body)
    }
}

extension Spool {
    /// The ledger's lines, read.
    func ledgerLines() throws -> [NSDictionary] {
        let folder = URL(fileURLWithPath: directory.path).appending(path: ".ferry")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("ledger-") }.sorted()
            .flatMap { try String(contentsOf: folder.appending(path: $0), encoding: .utf8).split(separator: "\n") }
            .compactMap { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary }
    }
}

@Suite("Delivery to collectors and search engines")
struct CollectorDeliveryTests {
    private let folder = TemporaryFolder()

    @Test("OTLP: records that the receiver dropped are told, and stand in the ledger of a segment that is delivered")
    func partialSuccess() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<5)), as: Segments.name())
        let run = CollectorRun()
        // Of two requests the first drops some.
        let report = try await run.upload(spool, as: .otlp, { $0.requestLimits = RequestLimits(events: 3) }) { number, request in
            #expect(request["content-type"] == "application/json")
            return CollectorRun.answer(
                number == 0 ? #"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"too old"}}"# : "{}")
        }
        #expect(report.sent.segments == 1)
        let remark = "the receiver dropped 2 of the request's 3 log records: too old"
        #expect(try spool.ledgerLines().map { $0["detail"] as? String } == [remark])
        #expect(run.warnings.withLock(\.self).filter { $0.hasSuffix(remark) }.count == 1)
    }

    @Test("OTLP: of a request of several segments each has the remark")
    func joinedRemark() async throws {
        let spool = try folder.spool()
        for second in 0..<3 { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: Segments.name(second: second)) }
        let run = CollectorRun()
        let report = try await run.upload(spool, as: .otlp) { _, _ in
            CollectorRun.answer(#"{"partialSuccess":{"rejectedLogRecords":"1"}}"#)
        }
        #expect(report.sent.segments == 3)
        #expect(run.bodies.withLock(\.count) == 1)
        #expect(
            try spool.ledgerLines().map { $0["detail"] as? String }
                == Array(repeating: "the receiver dropped 1 of the request's 6 log records", count: 3))
    }
}
