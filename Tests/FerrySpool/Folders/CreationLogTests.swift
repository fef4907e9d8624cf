import TestSupport
import Testing

@testable import FerrySpool

@Suite("Segments keep their order without a right clock, across processes and boots")
struct CreationLogTests {
    private let folder = TemporaryFolder()
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let boot = Timestamp(milliseconds: 12_345)

    private func write(_ line: String, at time: Timestamp, into spool: Spool) throws -> SegmentName {
        let writer = SegmentWriter(spool: spool, options: .init(), wallClock: { time })
        var line = line
        try line.withUTF8 { try writer.append($0, at: .now) }
        return try #require(try writer.finish().first)
    }

    @Test("Two processes whose clock goes wrong in turn never date a segment before one that is there")
    func twoProcesses() throws {
        let spools = try [folder.spool(), folder.spool()]
        let clocks = [now, now - .seconds(3600), boot, now + .milliseconds(1), boot, boot, now - .seconds(86_000), now]
        var latest: Timestamp?
        for (round, clock) in clocks.enumerated() {
            let created = spools[round % 2].clock.dateSegment(clock).created
            if let latest { #expect(created > latest) }
            latest = created
        }
    }

    @Test("What a power cut left of the file does not matter: the names in the folder tell as well")
    func lostFile() throws {
        let spool = try folder.spool()
        let published = try write("1", at: now, into: spool)
        let state = try #require(spool.stateDirectory)
        let whole = try #require(try state.contents(of: "created.json"))
        #expect(LatestCreation(whole)?.created == published.created)
        for length in [0, 1, 50, whole.count - 1] {
            try state.replace("created.json", with: Array(whole[..<length]), durable: false)
            #expect(spool.clock.dateSegment(boot).created > now)
        }
        try state.replace("created.json", with: [UInt8](repeating: 0, count: whole.count), durable: false)
        #expect(spool.clock.dateSegment(boot).created > now)
        try state.remove("created.json")
        #expect(spool.clock.dateSegment(boot).created > now)
    }

    @Test("A file of an earlier boot may lag behind the names; journals and what was delivered count too")
    func staleFile() throws {
        let spool = try folder.spool()
        let state = try #require(spool.stateDirectory)
        let stale = LatestCreation(boot: String(repeating: "a", count: 36), created: Segments.name().created).line
        func date() throws -> Timestamp {
            try state.replace("created.json", with: stale, durable: false)
            return spool.clock.dateSegment(boot).created
        }
        #expect(try date() == Segments.name().created + .milliseconds(1))
        let delivered = try spool.directory.makeDirectory("sent").makeDirectory("2026-11-21")
        try delivered.replace(Segments.name(second: 1).fileName, with: [0], durable: false)
        #expect(try date() == Segments.name(second: 1).created + .milliseconds(1))
        let journal = try spool.journals.open(Segments.name(second: 2))
        #expect(try date() == Segments.name(second: 2).created + .milliseconds(1))
        withExtendedLifetime(journal) {}
    }

    @Test("A process that stands still while it holds the file holds up no other")
    func held() throws {
        let spool = try folder.spool()
        let first = spool.clock.dateSegment(now)
        let holder = try #require(try spool.stateDirectory?.open("created.json"))
        #expect(holder.tryLock())
        #expect(spool.clock.dateSegment(now).created > first.created)
    }

    @Test("A clock that was a year ahead and is mended is not followed")
    func mended() throws {
        let spool = try folder.spool()
        _ = try write("1", at: now + .seconds(86_400 * 365), into: spool)
        let second = try write("2", at: now, into: spool)
        #expect(second.created == now)
        #expect(try write("3", at: now - .seconds(5), into: spool).created > second.created)
    }
}
