import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

/// The keys that each lane's server was sent.
private final class Keys: Sendable { let byLane = Mutex<[String: [String]]>([:]) }

@Suite("Putting segments into lanes") struct LaneDeliveryTests {
    private let folder = TemporaryFolder()
    private let hub = LaneName("hub")!
    private let archive = LaneName("archive")!

    private func route(_ spool: Spool, _ lanes: [Lane]) async throws -> UploadReport {
        var options = UploadOptions(destination: Destination(lanes: lanes))
        options.keepsSent = false
        options.ignoresWaits = true
        return try await UploadPass(spool, options: options).run()
    }

    private func pending(_ spool: Spool, _ lane: LaneName) throws -> [String] {
        try Spool.open(spool.lanes.path(of: lane), access: .write).pending()
    }

    @Test("Each lane gets what is for it, and the ledger says where it went") func route() async throws {
        let spool = try folder.spool()
        let audit = Segments.name(second: 1, stream: "audit")
        let web = Segments.name(second: 2, stream: "web")
        for name in [audit, web] { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: name) }
        let report = try await route(spool, [Lane(hub), Lane(archive, streams: ["audit"])])
        #expect(report.sent.segments == 2)
        #expect(try spool.pending() == [])
        #expect(try pending(spool, hub) == [audit.fileName, web.fileName])
        #expect(try pending(spool, archive) == [audit.fileName])
        #expect(spool.ledger.totals { _ in }[.routed].segments == 2)
        #expect(spool.ledger.totals { _ in }[.sent].segments == 0)
    }

    @Test("A segment that no lane takes is kept in rejected/ with the reason") func noRoute() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<2)), as: Segments.name(stream: "web"))
        let report = try await route(spool, [Lane(hub, streams: ["audit"])])
        #expect(report.rejected == 1)
        let reason = try #require(try spool.rejected.segments { _ in }.first?.reason)
        #expect(reason.message.contains("no route takes stream web"))
    }

    @Test("A lane that cannot be written keeps everything where it is; one that is not required is passed by") func broken()
        async throws
    {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<2)))
        mkdir(folder("spool/to"), 0o755)
        FileManager.default.createFile(atPath: folder("spool/to/archive"), contents: nil)
        let first = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(first.sent.segments == 0)
        #expect(try spool.pending() == [name])
        let second = try await route(spool, [Lane(hub), Lane(archive, isRequired: false)])
        #expect(second.sent.segments == 1)
        #expect(try pending(spool, hub) == [name])
    }

    @Test("A segment that is for one lane alone stays where it is while that cannot be written, required or not") func nowhere()
        async throws
    {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<2)))
        mkdir(folder("spool/to"), 0o755)
        FileManager.default.createFile(atPath: folder("spool/to/archive"), contents: nil)
        let report = try await route(spool, [Lane(archive, isRequired: false), Lane(hub, streams: ["other"])])
        #expect(report.sent.segments == 0)
        #expect(try spool.pending() == [name])
    }

    @Test("While a lane that must have it cannot be written, no other gets it: at the next try that would be once more")
    func all() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<2)))
        mkdir(folder("spool/to"), 0o755)
        FileManager.default.createFile(atPath: folder("spool/to/hub"), contents: nil)
        _ = try await route(spool, [Lane(archive), Lane(hub)])
        #expect(try pending(spool, archive) == [])
    }

    @Test("After a kill between lane and ledger the next pass ends it, and it is in the lane once") func killed() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<2)))
        if case .claimed(let claim) = spool.claims.take(name) { _ = try spool.lanes.put(claim, as: name, into: hub) }
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(try spool.pending() == [])
        #expect(try pending(spool, hub) == [name])
        #expect(try pending(spool, archive) == [name])
    }

    @Test("Both lanes of one file are sent at the same time, each segment once, and both keep it") func both() async throws {
        let spool = try folder.spool()
        for second in 0..<40 {
            try spool.put(Segments.gzip(Segments.lines(second..<second + 2)), as: Segments.name(second: second))
        }
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        let keys = Keys()
        let servers = [hub, archive].map { lane in
            ScriptedServer.answering { request in
                keys.byLane.withLock { $0[lane.text, default: []].append(request["idempotency-key"] ?? "") }
                return ScriptedServer.answer(200)
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (lane, server) in zip([hub, archive], servers) {
                let own = try Spool.open(spool.lanes.path(of: lane), access: .write)
                var options = UploadOptions(destination: try DestinationURL(server.url))
                options.coalesce = .off
                group.addTask { [options] in
                    let report = try await UploadPass(own, options: options).run()
                    #expect(report.sent.segments == 40)
                    #expect(report.taken == 0)
                }
            }
            try await group.waitForAll()
        }
        for lane in [hub, archive] {
            let own = keys.byLane.withLock { $0[lane.text] ?? [] }
            #expect(own.count == 40)
            #expect(Set(own).count == 40)
            #expect(try Spool.open(spool.lanes.path(of: lane), access: .read).events(in: [.sent]).count == 80)
        }
    }
}
