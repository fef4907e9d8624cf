import Foundation
import TestSupport
import Testing

@testable import FerrySpool

@Suite("Lanes of a spool with several destinations") struct LanesTests {
    private let folder = TemporaryFolder()
    private let hub = LaneName("hub")!
    private let archive = LaneName("archive")!

    private func claim(_ name: String, in spool: Spool) throws -> Claim {
        guard case .claimed(let claim) = spool.claims.take(name) else { throw InVain(what: "claim \(name)") }
        return claim
    }

    private func isBusy(_ name: String, in spool: Spool) -> Bool {
        if case .busy = spool.claims.take(name) { return true }
        return false
    }

    @Test("A segment has a name in each lane before it loses its own, and is one file") func link() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        let claim = try claim(name, in: spool)
        #expect(try spool.lanes.place(claim, into: hub) == .put)
        #expect(try spool.lanes.place(claim, into: archive) == .put)
        #expect(try spool.lanes.names() == [archive, hub])
        for lane in [hub, archive] {
            let own = try Spool.open(spool.lanes.path(of: lane), access: .write)
            #expect(own.id == spool.id)
            #expect(try own.directory.status(name)?.identity == claim.status.identity)
        }
    }

    @Test("What was put before a crash is there once") func again() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        let claim = try claim(name, in: spool)
        #expect(try spool.lanes.place(claim, into: hub) == .put)
        #expect(try spool.lanes.place(claim, into: hub) == .wasThere)
        #expect(try Spool.open(spool.lanes.path(of: hub), access: .write).pending() == [name])
    }

    @Test("A lane's claim holds off other claims in that lane, and in no other") func claims() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        do {
            let claim = try claim(name, in: spool)
            for lane in [hub, archive] { _ = try spool.lanes.place(claim, into: lane) }
        }
        let lanes = try [hub, archive].map { try Spool.open(spool.lanes.path(of: $0), access: .write) }
        let sameLane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        do {
            let held = try claim(name, in: lanes[0])
            #expect(isBusy(name, in: lanes[0]))
            #expect(isBusy(name, in: sameLane))
            _ = try claim(name, in: lanes[1])
            _ = consume held
        }
        _ = try claim(name, in: sameLane)
    }

    @Test("A claim in a lane stands when another lane loses its name of the file") func otherLaneEnds() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        do {
            let claim = try claim(name, in: spool)
            for lane in [hub, archive] { _ = try spool.lanes.place(claim, into: lane) }
        }
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        let claim = try claim(name, in: lane)
        try FileManager.default.removeItem(atPath: "\(spool.lanes.path(of: archive))/\(name)")
        #expect(try lane.claims.holds(claim))
        try lane.endings.settle([
            Ending(claim, .sent(keep: true), LedgerEntry(at: .now(), segment: name, outcome: .sent, bytes: claim.status.size))
        ])
        #expect(try lane.pending() == [])
    }

    @Test("A file of another tool has its content in its name there, so that its name may come again") func foreignNames() throws
    {
        let spool = try folder.spool()
        for text in ["{\"n\":1}\n", "{\"n\":2}\n", "{\"n\":2}\n"] {
            // What has left for the lane has lost its name.
            try? FileManager.default.removeItem(atPath: folder("spool/day.jsonl.gz"))
            try Data(Segments.gzip(text)).write(to: URL(fileURLWithPath: folder("spool/day.jsonl.gz")))
            let claim = try claim("day.jsonl.gz", in: spool)
            _ = try spool.lanes.place(claim, into: hub)
        }
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        let mark = ContentHash.of(Segments.gzip("{\"n\":1}\n")).hexadecimal.prefix(12)
        let names = try lane.pending()
        #expect(names.count == 2)
        #expect(names.contains("day~\(mark).jsonl.gz"))
        #expect(Set(try lane.events(in: [.pending])) == ["{\"n\":1}", "{\"n\":2}"])
    }

    @Test(
        "Files of other tools whose names are long and nearly the same are as many in lanes, with equal content too",
        arguments: [110, 235])
    func longNames(_ length: Int) throws {
        let spool = try folder.spool()
        let stem = String(repeating: "l", count: length)
        for end in ["a", "b"] {
            let name = "\(stem)\(end).jsonl.gz"
            try Data(Segments.gzip("{}\n")).write(to: URL(fileURLWithPath: folder("spool/\(name)")))
            #expect(try spool.lanes.place(claim(name, in: spool), into: hub) == .put)
        }
        #expect(try Spool.open(spool.lanes.path(of: hub), access: .write).pending().count == 2)
    }

    @Test(
        "The key of another tool's file is the same in the spool and in its lanes",
        arguments: ["day", "~", "d~ä", "day~ca3d163bab05", String(repeating: "l", count: 200)])
    func keys(_ stem: String) throws {
        let spool = try folder.spool()
        let name = "\(stem).jsonl.gz"
        try Data(Segments.gzip("{}\n")).write(to: URL(fileURLWithPath: folder("spool/\(name)")))
        let claim = try claim(name, in: spool)
        let inLane = try spool.lanes.name(of: claim)
        #expect(inLane != name)
        let digest = try claim.digest()
        let keys = try [(name, false), (inLane, true)].map { name, isInLane in
            try SegmentKey.key(of: name, isInLane: isInLane, spoolID: spool.id) { () throws(FileError) in digest }
        }
        #expect(keys[0] == keys[1])
    }

    @Test("A file that has the mark of other content in its name keeps it in its key") func otherMark() throws {
        let digests = ["1", "2"].map { ContentHash.of(Array($0.utf8)) }
        let name = ForeignName.inLanes("day.jsonl.gz", digests[0])
        #expect(ForeignName.outOfLanes(name, digests[1]) == name)
        #expect(ForeignName.outOfLanes(name, digests[0]) == "day.jsonl.gz")
    }

    @Test("What is given up before it has its name leaves nothing in the lane") func discard() throws {
        let spool = try folder.spool()
        mkdir(folder("spool/to"), 0o755)
        guard folder.mount("size=4m", at: "spool/to") else { return }
        let claim = try claim(spool.put(Segments.gzip(Segments.lines(0..<3))), in: spool)
        guard case .ready(let entry) = try spool.lanes.stage(claim, as: claim.name, in: hub) else { throw InVain(what: "stage") }
        entry.discard()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("spool/to/hub")) == [".ferry"])
    }

    @Test("A file of another tool that was quiet long ago is so in a lane at once") func quiet() throws {
        let spool = try folder.spool()
        try Data(Segments.gzip("{}\n")).write(to: URL(fileURLWithPath: folder("spool/day.jsonl.gz")))
        let now = Timestamp.now()
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: folder("spool/day.jsonl.gz"))
        let claim = try claim("day.jsonl.gz", in: spool)
        _ = try spool.lanes.place(claim, into: hub)
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        let name = try #require(try lane.pending().first)
        let status = try #require(try lane.directory.status(name))
        #expect(try lane.settles(name, status, now: now) == nil)
        guard case .claimed(let own) = lane.claims.take(name) else { throw InVain(what: "claim") }
        #expect(try own.mayGrow(own.examine(.auto, inflateLimit: .mebibytes(1)), now: now) == nil)
    }

    @Test("A folder that is no lane, as that of a file system that is missing, is left as it is") func noLane() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        mkdir(folder("spool/to"), 0o755)
        mkdir(folder("spool/to/hub"), 0o755)
        let claim = try claim(name, in: spool)
        #expect(throws: FileError.self) { try spool.lanes.place(claim, into: hub) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("spool/to/hub")) == [])
    }

    @Test("Another segment of a name of the format stays where it is") func ownNameTaken() throws {
        let spool = try folder.spool()
        let name = Segments.name(second: 1)
        try spool.put(Segments.gzip(Segments.lines(0..<3)), as: name)
        try spool.lanes.make(hub)
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        try lane.put(Segments.gzip(Segments.lines(3..<6)), as: name)
        #expect(try spool.lanes.place(claim(name.fileName, in: spool), into: hub) == .nameTaken)
        #expect(try lane.events(in: [.pending]).first == "{\"n\":3}")
    }

    @Test("Where the file system has no link for it, the lane gets a copy with its times and notes") func copy() throws {
        let spool = try folder.spool()
        mkdir(folder("spool/to"), 0o755)
        guard folder.mount("size=4m", at: "spool/to") else { return }
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        let claim = try claim(name, in: spool)
        #expect(try spool.lanes.place(claim, into: hub) == .put)
        #expect(try spool.lanes.place(claim, into: hub) == .wasThere)
        let lane = try Spool.open(spool.lanes.path(of: hub), access: .write)
        #expect(try lane.events(in: [.pending]).count == 3)
        #expect(try lane.directory.status(name)?.modified == claim.status.modified)
    }

    @Test("What is known of a segment's tries goes along") func sidecar() throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip(Segments.lines(0..<3)))
        let claim = try claim(name, in: spool)
        let now = Timestamp.now()
        let state = RetryState(
            attempts: 4, failures: 2, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: now,
            lastError: .init(scope: .segment, kind: "status", status: 500, message: "HTTP 500"))
        try spool.sidecars.write(state, of: claim)
        _ = try spool.lanes.place(claim, into: hub)
        #expect(try Spool.open(spool.lanes.path(of: hub), access: .write).sidecars.read(of: name)?.attempts == 4)
    }

    @Test("Folders in to/ that are no lanes are left alone") func strangers() throws {
        let spool = try folder.spool()
        try spool.lanes.make(hub)
        for name in ["mine", "UPPER", ".hidden"] { mkdir(folder("spool/to/\(name)"), 0o755) }
        #expect(try spool.lanes.names() == [hub])
    }

    @Test(
        "A name of a lane is short, and safe in paths",
        arguments: ["", "-a", "_a", "A", "a/b", "..", "a.b", String(repeating: "a", count: 33)])
    func names(_ text: String) { #expect(LaneName(text) == nil) }

    @Test(
        "Any text makes a name with a number", arguments: ["hub.example", "ÄÖ", "--", "", "a_very-long.name.of.a.host.example"])
    func madeNames(_ text: String) {
        let name = LaneName(text, number: .max)
        #expect(LaneName(name.text) == name)
    }
}
