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

    @Test("A lane that can do without, and takes everything, holds up nothing but what is for it alone") func brokenOptional()
        async throws
    {
        let spool = try folder.spool()
        let other = Segments.name(second: 1, stream: "other")
        let main = Segments.name(second: 2, stream: "main")
        for name in [other, main] { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: name) }
        mkdir(folder("spool/to"), 0o755)
        FileManager.default.createFile(atPath: folder("spool/to/archive"), contents: nil)
        _ = try await route(spool, [Lane(archive, isRequired: false), Lane(hub, streams: ["main"])])
        #expect(try spool.pending() == [other.fileName])
        #expect(try pending(spool, hub) == [main.fileName])
    }

    @Test("A lane that cannot be written holds up what is for it, and nothing else", arguments: [true, false])
    func brokenRoute(_ isRequired: Bool) async throws {
        let spool = try folder.spool()
        let audit = Segments.name(second: 1, stream: "audit")
        let web = Segments.name(second: 2, stream: "web")
        for name in [audit, web] { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: name) }
        mkdir(folder("spool/to"), 0o755)
        FileManager.default.createFile(atPath: folder("spool/to/archive"), contents: nil)
        let lanes = [Lane(hub, streams: ["web"]), Lane(archive, isRequired: isRequired, streams: ["audit"])]
        _ = try await route(spool, lanes)
        #expect(try spool.pending() == [audit.fileName])
        #expect(try pending(spool, hub) == [web.fileName])
        try FileManager.default.removeItem(atPath: folder("spool/to/archive"))
        _ = try await route(spool, lanes)
        #expect(try pending(spool, archive) == [audit.fileName])
        // How long it waited for its lane is nothing that the lane's destination did.
        #expect(try Spool.open(spool.lanes.path(of: archive), access: .write).sidecars.read(of: audit.fileName) == nil)
    }

    /// Makes a lane of an empty file system.
    private func makeLane(_ spool: Spool) throws {
        mkdir(folder("spool/to/archive/.ferry"), 0o755)
        for (name, text) in [("lane", "archive\n"), ("spool-id", spool.id)] {
            FileManager.default.createFile(atPath: folder("spool/to/archive/.ferry/\(name)"), contents: Data(text.utf8))
        }
    }

    /// Notes segments as those of a request whose process was killed.
    private func note(_ request: String, events: Int64, of names: [SegmentName], in spool: Spool) throws {
        let now = Timestamp.now()
        for name in names {
            guard case .claimed(let claim) = spool.claims.take(name.fileName) else { throw InVain(what: "claim") }
            var state = RetryState(
                attempts: 1, failures: 0, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now, lastError: .interrupted)
            (state.request, state.requestEvents, state.interrupted) = (request, events, true)
            try spool.sidecars.write(state, of: claim)
        }
    }

    /// A spool with a lane that is full, on a file system of its own; `nil` where none can be mounted.
    private func spoolWithFullLane() throws -> Spool? {
        let spool = try folder.spool()
        try spool.lanes.make(archive)
        guard folder.mount("size=64k", at: "spool/to/archive") else { return nil }
        try makeLane(spool)
        let noise = Data((0..<128 << 10).map { _ in UInt8.random(in: 0...255) })
        _ = folder("spool/to/archive/filler").withCString { path in
            let file = open(path, O_WRONLY | O_CREAT, 0o600)
            defer { close(file) }
            return noise.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
        }
        return spool
    }

    @Test("While a lane that must have it is full, no other gets it, and nothing is left there") func fullLane() async throws {
        guard let spool = try spoolWithFullLane() else { return }
        let name = try spool.put(Segments.gzip(Segments.lines(0..<2)))
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(try spool.pending() == [name])
        #expect(try pending(spool, hub) == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("spool/to/archive")).sorted() == [".ferry", "filler"])
        try FileManager.default.removeItem(atPath: folder("spool/to/archive/filler"))
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(try pending(spool, hub) == [name])
        #expect(try pending(spool, archive) == [name])
    }

    @Test("A lane with room for segments, and not for what is known of them, gets none of a request") func noRoomForSidecars()
        async throws
    {
        guard let spool = try spoolWithFullLane() else { return }
        let names = (1...20).map { Segments.name(second: $0) }
        for name in names { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: name) }
        try note(JoinedRequest.key(names.map(\.id)), events: 40, of: names, in: spool)
        // Room for all copies, a page each, and for some of their sidecars.
        folder.unmount("spool/to/archive")
        guard folder.mount("size=120k", at: "spool/to/archive") else { return }
        try makeLane(spool)
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(try spool.pending().count == 20)
        #expect(try pending(spool, hub) == [])
        #expect(try pending(spool, archive) == [])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder("spool/to/archive")).filter {
                $0.contains("ferry-tmp")
            } == [])
    }

    @Test("What was under way in one request goes into lanes together, or not at all, and is still to be repeated as it was")
    func interruptedRequest() async throws {
        guard let spool = try spoolWithFullLane() else { return }
        let names = (1...3).map { Segments.name(second: $0) }
        for name in names { try spool.put(Segments.gzip(Segments.lines(0..<2)), as: name) }
        let request = JoinedRequest.key(names.map(\.id))
        try note(request, events: 6, of: names, in: spool)
        let report = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(report.sent.segments == 0)
        #expect(try pending(spool, hub) == [])
        for name in names { #expect(try spool.sidecars.read(of: name.fileName)?.interruptedRequest == request) }
        try FileManager.default.removeItem(atPath: folder("spool/to/archive/filler"))
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        for lane in [hub, archive] {
            let own = try Spool.open(spool.lanes.path(of: lane), access: .write)
            #expect(try own.pending() == names.map(\.fileName))
            for name in names { #expect(try own.sidecars.read(of: name.fileName)?.interruptedRequest == request) }
        }
    }

    @Test("After a kill between lane and ledger the next pass ends it, and it is in the lane once") func killed() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<2)))
        if case .claimed(let claim) = spool.claims.take(name) { _ = try spool.lanes.place(claim, into: hub) }
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(try spool.pending() == [])
        #expect(try pending(spool, hub) == [name])
        #expect(try pending(spool, archive) == [name])
    }

    @Test("What a crash brings back does not go once more into a lane that has sent it meanwhile") func comesBack() async throws {
        let spool = try folder.spool()
        let bytes = Segments.gzip(Segments.lines(0..<2))
        let name = Segments.name(second: 1)
        try spool.put(bytes, as: name)
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        guard case .claimed(let claim) = lane.claims.take(name.fileName) else { throw InVain(what: "claim") }
        try lane.endings.settle([
            Ending(
                claim, .sent(keep: false),
                LedgerEntry(at: .now(), segment: name.fileName, outcome: .sent, bytes: claim.status.size))
        ])
        // The spool's own name of it was not removed for good.
        try spool.put(bytes, as: name)
        _ = try await route(spool, [Lane(hub), Lane(archive)])
        #expect(try spool.pending() == [])
        #expect(try pending(spool, hub) == [])
        #expect(try pending(spool, archive) == [name.fileName])
    }

    @Test("Another segment of a name that a lane has sent goes into it") func otherBytes() async throws {
        let spool = try folder.spool()
        let name = Segments.name(second: 1)
        try spool.put(Segments.gzip(Segments.lines(0..<2)), as: name)
        _ = try await route(spool, [Lane(hub)])
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        do {
            guard case .claimed(let claim) = lane.claims.take(name.fileName) else { throw InVain(what: "claim") }
            try lane.endings.settle([
                Ending(
                    claim, .sent(keep: false),
                    LedgerEntry(at: .now(), segment: name.fileName, outcome: .sent, bytes: claim.status.size))
            ])
        }
        try spool.put(Segments.gzip(Segments.lines(0..<200)), as: name)
        _ = try await route(spool, [Lane(hub)])
        #expect(try pending(spool, hub) == [name.fileName])
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
