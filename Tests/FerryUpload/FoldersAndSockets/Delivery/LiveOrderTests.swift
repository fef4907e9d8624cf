import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

/// The names that a server was sent, in their order.
private final class Arrived: Sendable { let names = Mutex<[String]>([]) }

@Suite("What is live goes before the backlog") struct LiveOrderTests {
    private let folder = TemporaryFolder()

    private func segment(_ priority: Int = 5, age: Duration) throws -> SegmentName {
        let level = try #require(Priority(priority))
        return try #require(SegmentName(priority: level, created: .now() - age, id: SegmentID.random().text, stream: nil))
    }

    private func options(_ server: ScriptedServer) throws -> UploadOptions {
        var options = UploadOptions(destination: try DestinationURL(server.url))
        options.order = .live
        options.coalesce = .off
        options.parallel = 1
        return options
    }

    @Test("Of five turns four are live while both are there, each oldest first; then the rest follows") func order() async throws
    {
        let spool = try folder.spool()
        let old = try (0..<12).map { try segment(age: .seconds(86_400 - $0)) }
        let new = try (0..<20).map { try segment(age: .seconds(100 - $0)) }
        let urgent = try segment(1, age: .seconds(86_000))
        for name in old + new + [urgent] { try spool.put(Segments.gzip(Segments.lines(0..<1)), as: name) }
        let arrived = Arrived()
        let server = ScriptedServer.answering { request in
            arrived.names.withLock { $0.append(request["ferry-segment"] ?? "") }
            return ScriptedServer.answer(200)
        }
        let planned = Array(try DueSegments(spool, options: options(server), now: .now())).map(\.segment.name)
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(report.sent.segments == 33)
        // The urgent one is older than five minutes, and takes the backlog's turn.
        var expected = [urgent]
        var (backlog, live, turns) = (old[...], new[...], 0)
        while let next = turns == 4 || live.isEmpty ? backlog.popFirst() ?? live.popFirst() : live.popFirst() {
            turns = old.contains(next) ? 0 : min(turns + 1, 4)
            expected.append(next)
        }
        let names = arrived.names.withLock { $0 }
        #expect(names == expected.map(\.fileName))
        #expect(planned == names)
    }

    @Test("What appears during a backlog leaves among the next ones") func newcomer() async throws {
        let spool = try folder.spool()
        for second in 0..<40 { try spool.put(Segments.gzip(Segments.lines(0..<1)), as: Segments.name(second: second)) }
        let fresh = try segment(0, age: .zero)
        let arrived = Arrived()
        let server = ScriptedServer.answering { request in
            let count = arrived.names.withLock { names in
                names.append(request["ferry-segment"] ?? "")
                return names.count
            }
            if count == 3 { _ = try? spool.put(Segments.gzip(Segments.lines(0..<1)), as: fresh) }
            // Time for the folder to be looked at.
            if count > 3 { usleep(30_000) }
            return ScriptedServer.answer(200)
        }
        _ = try await UploadPass(spool, options: options(server)).run()
        let place = try #require(arrived.names.withLock { $0.firstIndex(of: fresh.fileName) })
        #expect(place < 35)
    }

    @Test("The backlog's turn is the fifth, and turns that it did not need are not saved up") func share() {
        var share = LiveShare()
        for _ in 0..<4 {
            #expect(!share.isBacklogsTurn)
            share.took(backlog: false)
        }
        #expect(share.isBacklogsTurn)
        for _ in 0..<20 { share.took(backlog: false) }
        share.took(backlog: true)
        #expect(!share.isBacklogsTurn)
    }

    @Test("The moment stands for ten seconds, in any year", arguments: [Timestamp.distantPast, .now(), .distantFuture])
    func moment(_ now: Timestamp) {
        let moment = LiveShare.liveSince(at: now)
        #expect(moment.milliseconds % 10_000 == 0 || moment == .distantPast)
        #expect(now - moment < .seconds(311))
    }
}
