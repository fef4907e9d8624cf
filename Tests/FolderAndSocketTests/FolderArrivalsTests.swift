import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What comes into a folder while a listing of it is worked off")
struct FolderArrivalsTests {
    private let folder = TemporaryFolder()

    /// Lists a spool as a pass does, and takes its first segment.
    private func listed(_ spool: Spool) throws -> (LaneTools, Dispatcher.Item) {
        let options = UploadOptions(destination: try DestinationURL("http://hub/"))
        let arrivals = try #require(FolderArrivals(spool, from: .zero))
        let tools = LaneTools(SpoolLease(spool), options: options, arrivals: arrivals, now: { .now() }) { _ in }
        arrivals.begin()
        var lane = Lane(tools)
        lane.begin(try spool.scan())
        let next = lane.takeNext()
        return (tools, try #require(next))
    }

    @Test("A file that came since is known, however it came; one that was there before is not")
    func came() throws {
        let spool = try folder.spool()
        let old = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        let arrivals = try #require(FolderArrivals(spool, from: .zero))
        arrivals.begin()
        #expect(!arrivals.mayHold(oneOf: [old]))
        let new = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        #expect(arrivals.mayHold(oneOf: ["other", new]))
        #expect(!arrivals.mayHold(oneOf: [old]))
        try spool.directory.create("\(old).retry.json").write(Array("{}".utf8))
        #expect(arrivals.mayHold(oneOf: ["\(old).retry.json"]))
        arrivals.begin()
        #expect(!arrivals.mayHold(oneOf: [new]))
    }

    @Test("Where more came than is kept, everything may have come")
    func flood() throws {
        let spool = try folder.spool()
        let arrivals = try #require(FolderArrivals(spool, from: .zero, mostNames: 3))
        arrivals.begin()
        for second in 0..<4 { _ = try spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: second)) }
        #expect(arrivals.mayHold(oneOf: ["anything"]))
        #expect(arrivals.takeCritical() == nil)
        arrivals.begin()
        #expect(!arrivals.mayHold(oneOf: ["anything"]))
    }

    @Test("A small folder has no watch")
    func small() throws { #expect(FolderArrivals(try folder.spool()) == nil) }

    @Test("Another uploader's back-off counts that was noted after the listing")
    func sidecar() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        let (tools, item) = try listed(spool)
        #expect(item.isPlain)
        let now = Timestamp.now()
        do {
            guard case .claimed(let claim) = spool.claim(name) else { throw InVain(what: "a claim") }
            try spool.writeSidecar(
                RetryState(
                    attempts: 1, failures: 1, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now + .seconds(60),
                    lastError: .init(scope: .segment, kind: "status", message: "500")), of: claim)
        }
        guard case .waits = tools.preparer.prepare(item, in: spool, now: now) else { throw InVain(what: "a wait") }
    }

    @Test("A half is seen, whether it was there before the listing or came after it", arguments: [true, false])
    func half(isOld: Bool) throws {
        let spool = try folder.spool()
        let parent = Segments.name(second: 1)
        let name = try spool.put(Segments.gzip("{}\n{}\n"), as: parent)
        let half = try #require(SegmentName(priority: parent.priority, created: parent.created, id: parent.id + "0"))
        if isOld { _ = try spool.put(Segments.gzip("{}\n"), as: half) }
        let (tools, item) = try listed(spool)
        #expect(item.name == name)
        if !isOld { _ = try spool.put(Segments.gzip("{}\n"), as: half) }
        guard case .halfSplit = tools.preparer.prepare(item, in: spool, now: .now()) else { throw InVain(what: "a half split") }
    }
}
