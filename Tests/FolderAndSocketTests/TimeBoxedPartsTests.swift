import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

@Suite("A time-boxed delivery of what goes out in parts")
struct TimeBoxedPartsTests {
    private let folder = TemporaryFolder()

    private func options(_ server: ScriptedServer, events: Int64) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.body = .jsonArray
        options.requestLimits = RequestLimits(events: events)
        options.parallel = 1
        return options
    }

    @Test("What ends after a part of one segment has sent something, and something is left")
    func part() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<50)), as: Segments.name())
        let pass = Mutex<UploadPass?>(nil)
        let server = ScriptedServer.answering { _ in
            pass.withLock { $0?.stop() }
            return ScriptedServer.answer(200)
        }
        let first = try UploadPass(spool, options: options(server, events: 20))
        pass.withLock { $0 = first }
        let report = try await first.run()
        pass.withLock { $0 = nil }
        #expect(report.sent.segments == 0)
        #expect(report.partEvents == 20)
        #expect(FlushResult(report) == .sent(more: true))
        #expect(try spool.sidecar(of: name)?.delivered?.lines == 20)
        // What ends with its segment is counted there.
        let rest = try await UploadPass(spool, options: options(server, events: 20)).run()
        #expect(rest.sent.segments == 1)
        #expect(rest.partEvents == 0)
        #expect(FlushResult(rest) == .sent(more: false))
    }

    @Test("A large segment whose requests are small is begun, however long its bytes would take in one")
    func largeBehindSmall() async throws {
        let spool = try folder.spool()
        func line() throws -> String { "{\"noise\":\"\(try Data(Segments.noise(75_000)).base64EncodedString())\"}\n" }
        try spool.put(Segments.gzip(line()), as: Segments.name(1))
        try spool.put(Segments.gzip((0..<40).map { _ in try line() }.joined()), as: Segments.name(2))
        let isFirst = Mutex<Void?>(())
        let server = ScriptedServer.answering { _ in
            // At the pace that this tells, all of the large segment takes longer than the whole time.
            if isFirst.withLock({ $0.take() != nil }) { sleep(1) }
            return ScriptedServer.answer(200)
        }
        var options = try options(server, events: 1)
        options.deadline = .seconds(30)
        options.deadlineMargin = .zero
        let report = try await UploadPass(spool, options: options).run()
        #expect(report.sent.segments == 2)
    }
}
