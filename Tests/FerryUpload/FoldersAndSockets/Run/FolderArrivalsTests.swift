import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("What comes into a folder while a listing of it is worked off")
struct FolderArrivalsTests {
    private let folder = TemporaryFolder()

    /// Lists a spool as a pass does, and takes its first segment.
    private func listed(_ spool: Spool) throws -> (SpoolServices, QueuedSegment) {
        let options = UploadOptions(destination: try DestinationURL("http://hub/"))
        let arrivals = try #require(FolderArrivals(spool, from: .zero))
        let services = SpoolServices(SpoolLease(spool), options: options, arrivals: arrivals, now: { .now() }) { _ in }
        arrivals.begin()
        var queue = SpoolQueue(longestWait: options.backOff.longestWait, knowsArrivals: true)
        queue.begin(try spool.scan())
        let next = queue.takeNext(seeing: services)
        return (services, try #require(next))
    }

    @Test("A file that came since is known, however it came; one that was there before is not")
    func came() throws {
        let spool = try folder.spool()
        let old = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        let arrivals = try #require(FolderArrivals(spool, from: .zero))
        arrivals.begin()
        #expect(!arrivals.look(for: [old]).mayHoldNames)
        let new = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        #expect(arrivals.look(for: ["other", new]).mayHoldNames)
        #expect(!arrivals.look(for: [old]).mayHoldNames)
        try spool.directory.create("\(old).retry.json").write(Array("{}".utf8))
        #expect(arrivals.look(for: ["\(old).retry.json"]).mayHoldNames)
        arrivals.begin()
        #expect(!arrivals.look(for: [new]).mayHoldNames)
    }

    @Test("Where more came than is kept, everything may have come")
    func flood() throws {
        let spool = try folder.spool()
        let arrivals = try #require(FolderArrivals(spool, from: .zero, mostNames: 3))
        arrivals.begin()
        for second in 0..<4 { _ = try spool.put(Segments.gzip("{}\n"), as: Segments.name(0, second: second)) }
        #expect(arrivals.look(for: ["anything"]).mayHoldNames)
        #expect(arrivals.takeCritical() == nil)
        arrivals.begin()
        #expect(!arrivals.look(for: ["anything"]).mayHoldNames)
    }

    @Test("A small folder has no watch")
    func small() throws { #expect(FolderArrivals(try folder.spool()) == nil) }

    @Test("Another uploader's back-off counts that was noted after the listing")
    func sidecar() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        let (services, item) = try listed(spool)
        #expect(item.isPlain)
        let now = Timestamp.now()
        do {
            guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "a claim") }
            try spool.sidecars.write(
                RetryState(
                    attempts: 1, failures: 1, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now + .seconds(60),
                    lastError: .init(scope: .segment, kind: "status", message: "500")), of: claim)
        }
        guard case .waits = services.claimer.prepare(item, in: spool, now: now) else { throw InVain(what: "a wait") }
    }

    @Test("A half is seen, whether it was there before the listing or came after it", arguments: [true, false])
    func half(isOld: Bool) throws {
        let spool = try folder.spool()
        let parent = Segments.name(second: 1)
        let name = try spool.put(Segments.gzip("{}\n{}\n"), as: parent)
        let half = try #require(SegmentName(priority: parent.priority, created: parent.created, id: parent.id + "0"))
        if isOld { _ = try spool.put(Segments.gzip("{}\n"), as: half) }
        let (services, item) = try listed(spool)
        #expect(item.name == name)
        if !isOld { _ = try spool.put(Segments.gzip("{}\n"), as: half) }
        guard case .halfSplit = services.claimer.prepare(item, in: spool, now: .now()) else { throw InVain(what: "a half split") }
    }

    @Test("A change of the state folder shows, and where its export marks may lie unwatched, that is said")
    func stateFolder() throws {
        let spool = try folder.spool()
        let arrivals = try #require(FolderArrivals(spool, from: .zero))
        let before = try #require(arrivals.stateChanges)
        #expect(arrivals.stateChanges == before)
        let state = try #require(spool.stateDirectory)
        _ = try state.create("news")
        let after = try #require(arrivals.stateChanges)
        #expect(after != before)
        arrivals.begin()
        #expect(arrivals.stateChanges == after)
        try state.remove("news")
        #expect(arrivals.stateChanges != after)
        _ = try state.makeDirectory(ExportsFolder.folderName)
        #expect(arrivals.stateChanges == nil)
        arrivals.begin()
        #expect(arrivals.stateChanges == nil)
    }

    @Test(
        "A mark that an export makes after the listing keeps its segment, whether or not there were marks before",
        arguments: [true, false])
    func exported(hadMarks: Bool) throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        _ = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 2))
        if hadMarks { _ = try #require(spool.stateDirectory).makeDirectory(ExportsFolder.folderName) }
        let (services, item) = try listed(spool)
        _ = try services.travel.read(spool, spool.scan(), stateChanges: services.arrivals?.stateChanges)
        #expect(!(try services.travel.hasMark(of: name, spool, stateChanges: services.arrivals?.stateChanges)))
        let mark = try spool.exports.begin(of: [name], at: .now())
        defer { mark.cancel() }
        guard case .travels = services.claimer.prepare(item, in: spool, now: .now()) else {
            throw InVain(what: "a segment that travels")
        }
    }

    @Test("A mark that has its name at the look, and gets its lines after it, is seen")
    func filledMark() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1))
        let exports = try #require(spool.stateDirectory).makeDirectory(ExportsFolder.folderName)
        let (services, item) = try listed(spool)
        let mark = try spool.exports.begin(of: [name], at: .now())
        defer { mark.cancel() }
        let making = try #require(try exports.names().first)
        let lines = try #require(try exports.contents(of: making))
        // As it is between its making and its writing.
        _ = try OpenFile.creating(exports.pathOf(making))
        guard case .ready = services.claimer.prepare(item, in: spool, now: .now()) else { throw InVain(what: "a segment") }
        try OpenFile.creating(exports.pathOf(making), appending: true).write(lines)
        guard case .travels = services.claimer.prepare(item, in: spool, now: .now()) else {
            throw InVain(what: "a segment that travels")
        }
    }

    @Test("A way that is noted after the first look is known at the next")
    func ways() throws {
        let spool = try folder.spool()
        let name = Segments.name(second: 1)
        let file = try #require(try spool.directory.open(spool.put(Segments.gzip("{}\n"), as: name)))
        let arrivals = try #require(FolderArrivals(spool, from: .zero))
        let ways = Ways()
        #expect(ways.trail(file.trail, name, in: spool, stateChanges: arrivals.stateChanges) == .none)
        try spool.received.log([
            ReceivedEntry(
                at: .now(), key: name.id, sha256: String(repeating: "0", count: 64), segment: name.fileName, bytes: 1, events: 1,
                file: ".w", trail: Trail("1 other"))
        ])
        #expect(ways.trail(file.trail, name, in: spool, stateChanges: arrivals.stateChanges).hops == 1)
    }
}
