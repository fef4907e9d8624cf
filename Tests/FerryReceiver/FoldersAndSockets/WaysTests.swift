import Glibc
import ServiceSupport
import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryTransfer

@Suite("Ways that files do not tell")
struct WaysTests {
    private let folder = TemporaryFolder()

    /// Takes the notes from a spool's files, as a copy by another tool does.
    private func strip(_ spool: Spool) throws {
        for name in try spool.pending() {
            let bytes = try #require(try spool.directory.contents(of: name))
            try spool.directory.replace(name, with: bytes, durable: false)
        }
    }

    @Test("What comes back to the spool that it is from stays pending at the sender")
    func back() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        let names = try fill(a)
        #expect(try await send(a, to: b) == 0)
        try strip(b)
        #expect(try await send(b, to: a) == 3)
        #expect(try b.pending() == names)
    }

    @Test("What comes back through two relays, and was split on its way, stays pending too")
    func halves() async throws {
        let (a, b, c) = (try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        try a.put(Segments.gzip("1\n2\n"))
        #expect(try await send(a, to: b) == 0)
        try strip(b)
        #expect(try await send(b, to: c) == 0)
        try strip(c)
        let whole = try #require(try c.pending().first)
        try c.directory.remove(whole)
        let half = try #require(SegmentName(whole)?.halves).second
        try c.put(Segments.gzip("2\n"), as: half)
        #expect(try await send(c, to: b) == 1)
        #expect(try c.pending() == [half.fileName])
    }

    @Test("What two relays have got from one source ends at one of them only")
    func twoCopies() async throws {
        let (edge, a, b) = (try folder.spool("edge"), try folder.spool("a"), try folder.spool("b"))
        let names = try fill(edge)
        for name in names { try await lose(name, edge, to: a) }
        #expect(try await send(edge, to: b) == 0)
        for spool in [a, b] { try strip(spool) }
        #expect(try await send(b, to: a) == 0)
        try strip(a)
        // It may come round once; it is never nowhere.
        let left = try await send(a, to: b)
        #expect(try a.pending().count + b.pending().count >= names.count)
        #expect(try left == a.pending().count)
    }

    @Test("A second way that no file takes is noted by the spool, and keeps the segment from going back on it")
    func further() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        let name = try b.put(Segments.gzip("{}\n"))
        let segment = try #require(SegmentName(name))
        try b.wayNotes.append(Trail.none.adding(a.id), of: segment)
        try b.wayNotes.append(Trail.none.adding(a.id), of: segment)
        #expect(try b.stateDirectory?.contents(of: "ways-\(Timestamp.now().compactDay).jsonl")?.count { $0 == 10 } == 1)
        #expect(try await send(b, to: a) == 1)
        #expect(try b.pending() == [name])
    }

    @Test("Ways are read once, and from there on what is new")
    func news() throws {
        let spool = try folder.spool()
        let names = try fill(spool, 2)
        let segments = names.compactMap { SegmentName($0) }
        let files = try names.map { try #require(try spool.directory.open($0)) }
        let ways = Ways()
        #expect(ways.trail(of: files[0], segments[0], in: spool) == .none)
        for (number, segment) in segments.enumerated() {
            try spool.wayNotes.append(Trail.none.adding("a"), of: segment)
            #expect(ways.trail(of: files[number], segment, in: spool).spools == ["a"])
            try spool.wayNotes.append(Trail.none.adding("b"), of: segment)
            #expect(ways.trail(of: files[number], segment, in: spool).spools == ["a", "b"])
        }
    }

    @Test("A line of an earlier version tells that a segment came, if not from where")
    func earlierVersion() throws {
        let spool = try folder.spool()
        let name = try #require(try fill(spool, 1).first)
        let segment = try #require(SegmentName(name))
        let digest = String(repeating: "0", count: 64)
        try spool.received.log([ReceivedEntry(at: .now(), key: segment.id, sha256: digest, segment: name, bytes: 1, events: 1)])
        let file = try #require(try spool.directory.open(name))
        #expect(Ways().trail(of: file, segment, in: spool) == Trail(hops: 1))
    }

    @Test("What came once more adds its way to the first one, in the log and where a copy has lost its note")
    func adds() throws {
        let spool = try folder.spool()
        let name = try #require(try fill(spool, 1).first)
        let segment = try #require(SegmentName(name))
        func log(_ trail: String, file: String?) throws {
            try spool.received.log([
                ReceivedEntry(
                    at: .now(), key: segment.id, sha256: String(repeating: "0", count: 64), segment: name, bytes: 1, events: 1,
                    file: file, trail: Trail(trail))
            ])
        }
        try log("1 old", file: ".w")
        try log("1 a", file: ".x")
        try log("2 b c", file: nil)
        let ways = Ways()
        func file() throws -> OpenFile { try #require(try spool.directory.open(name)) }
        #expect(ways.trail(of: try file(), segment, in: spool).spools == ["a", "b", "c"])
        try spool.wayNotes.note(Trail.none.adding("d"), of: segment, besides: Ways())
        #expect(ways.trail(of: try file(), segment, in: spool).spools == ["a", "b", "c", "d"])
    }

    @Test(
        "Where a log cannot be read what may have come counts as come, and goes out all the same",
        arguments: ["received", "ways"])
    func unreadable(log: String) async throws {
        let (spool, hub) = (try folder.spool("a"), try folder.spool("b"))
        let names = try fill(spool)
        _ = try #require(spool.stateDirectory).makeDirectory("\(log)-20260101.jsonl")
        let file = try #require(try spool.directory.open(names[0]))
        #expect(Ways().trail(of: file, SegmentName(names[0]), in: spool) == Trail(hops: 1))
        #expect(try await send(spool, to: hub) == 0)
        #expect(try hub.pending() == names)
    }

    @Test("What is logged on an earlier day than the last, as by a clock that was ahead, is read")
    func earlierDay() throws {
        let spool = try folder.spool()
        let state = try #require(spool.stateDirectory)
        for day in ["20300101", "20300102"] { try state.replace("ways-\(day).jsonl", with: [], durable: false) }
        let segment = try #require(fill(spool, 1).compactMap { SegmentName($0) }.first)
        let file = try #require(try spool.directory.open(segment.fileName))
        let ways = Ways()
        for spoolID in ["a", "b"] {
            try spool.wayNotes.append(Trail.none.adding(spoolID), of: segment)
            #expect(ways.trail(of: file, segment, in: spool).spools.last == spoolID)
        }
    }

    @Test("Notes of ways are removed when their segments have ended, and no day sooner", arguments: [true, false])
    func housekeeping(isThere: Bool) throws {
        let spool = try folder.spool()
        let name = try #require(try fill(spool, 1).first)
        let state = try #require(spool.stateDirectory)
        let half = try #require(SegmentName(name)?.halves).first
        let line = "{\"id\":\"\(try #require(SegmentName(name)).id)\",\"trail\":\"1 a\"}\n"
        try state.replace("ways-20200101.jsonl", with: Array(line.utf8), durable: false)
        let old = timespec(tv_sec: 1_577_836_800, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, state.pathOf("ways-20200101.jsonl"), [old, old], 0) == 0)
        try spool.directory.rename(name, to: isThere ? half.fileName : "gone")
        try spool.wayNotes.append(Trail.none.adding("a"), of: half)
        _ = spool.housekeeping.cleanUp(try spool.scan())
        #expect(try state.contains("ways-20200101.jsonl") == isThere)
        #expect(try state.contains("ways-\(Timestamp.now().compactDay).jsonl"))
    }

    @Test("What goes round by stick and over HTTP comes back to no spool that it was in")
    func byStick() async throws {
        let (made, hub, edge) = (try folder.spool("made"), try folder.spool("hub"), try folder.spool("edge"))
        let names = try fill(made)
        #expect(try await send(made, to: hub) == 0)
        #expect(try carry(hub, to: edge, on: folder) == 0)
        #expect(try await send(edge, to: hub) == 3)
        #expect(try edge.pending() == names)
    }

    @Test("What goes round by three sticks is not vouched for by the spool that gave it")
    func byThreeSticks() async throws {
        let (made, hub) = (try folder.spool("made"), try folder.spool("hub"))
        let (near, far) = (try folder.spool("near"), try folder.spool("far"))
        let names = try fill(made)
        #expect(try await send(made, to: hub) == 0)
        #expect(try carry(hub, to: near, on: folder) == 0)
        #expect(try carry(near, to: far, on: folder) == 0)
        #expect(try carry(far, to: hub, on: folder) == 3)
        #expect(try far.pending() == names)
    }

    @Test("Through two relays a segment stays as young as it is, though its name says that it is old")
    func ages() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        let old = Timestamp.now() - .seconds(60 * 86_400)
        let name = SegmentName(priority: .normal, created: old, id: .random())
        let headers = [
            "Idempotency-Key": "\"\(name.id)\"", "Ferry-Segment": name.fileName, "Ferry-Created": old.rfc3339,
            "Ferry-Sent-At": (old + .seconds(100)).rfc3339, "Ferry-Spool": "device",
        ]
        let bytes = Segments.gzip("{}\n")
        let answer = try await whileReceiving(into: a) { try await RawClient.post(bytes, port: $0, headers: headers) }
        #expect(answer.status == 200)
        guard try a.directory.open(name.fileName)?.dated != nil else { return print("NOT TESTED: no extended attributes here") }
        #expect(try await send(a, to: b) == 0)
        let dated = try #require(try b.directory.open(name.fileName)?.dated)
        let age = Timestamp.now() - dated
        #expect(age >= .seconds(99))
        #expect(age < .seconds(600))
    }

    @Test("What an import knows, and has sent on to another spool, it takes again: it may be what comes back")
    func threeSpools() async throws {
        let (a, b) = (try folder.spool("a"), try folder.spool("b"))
        let (hub, c) = (try folder.spool("hub"), try folder.spool("c"))
        let names = try fill(a)
        for name in names { try await lose(name, a, to: hub) }
        #expect(try carry(a, to: b, on: folder) == 0)
        #expect(try carry(b, to: hub, on: folder) == 0)
        #expect(try hub.pending() == names)
        #expect(try await send(hub, to: c) == 0)
        // It came to the hub from b too: what c has must not end at b.
        #expect(try carry(c, to: b, on: folder) == 3)
        #expect(try c.pending() == names)
    }

    @Test("What an import knows, and gave to a third spool, is taken again")
    func givenToAThird() async throws {
        let (a, b, c) = (try folder.spool("a"), try folder.spool("b"), try folder.spool("c"))
        let end = try folder.spool("end")
        let names = try fill(a)
        for name in names { try await lose(name, a, to: c) }
        #expect(try carry(a, to: b, on: folder) == 0)
        #expect(try await send(c, to: end) == 0)
        #expect(try carry(b, to: c, on: folder) == 0)
        #expect(try c.pending() == names)
    }

    @Test(
        "What is pending under its own name, and just being sent, is not vouched for, wherever it was made",
        arguments: [true, false])
    func leaving(isOriginal: Bool) async throws {
        let (a, hub) = (try folder.spool("a"), try folder.spool("hub"))
        let b = isOriginal ? a : try folder.spool("b")
        let name = try #require(try fill(a, 1).first)
        try hub.directory.replace(name, with: #require(try a.directory.contents(of: name)), durable: false)
        if !isOriginal { #expect(try await send(a, to: b) == 0) }
        try endWriting(in: hub)
        guard case .claimed(let claim) = hub.claims.take(name) else { throw CancellationError() }
        #expect(try carry(b, to: hub, on: folder) == 1)
        #expect(try b.pending() == [name])
        withExtendedLifetime(claim) {}
    }

    @Test("A manifest's trail that is none makes its segment a flaw, and no other")
    func manifest() throws {
        func segment(_ number: Int, trail: String?) -> BundleManifest.Segment {
            let name = Segments.name(second: number)
            return BundleManifest.Segment(
                file: BundleManifest.fileName(number), name: name.fileName, key: name.id,
                created: .now(), bytes: 1, sha256: String(repeating: "0", count: 64), trail: trail)
        }
        let head = BundleManifest.Head(
            bundle: SegmentID.random().text, spool: "s", createdAt: .now(), segments: 4, bytes: 4, isEncrypted: false)
        let trails = [nil, "two a", "1 a", "0"]
        let segments = trails.enumerated().map { segment($0.offset + 1, trail: $0.element) }
        let manifest = try BundleManifest(BundleManifest(head: head, segments: segments).bytes)
        #expect(manifest.flaws == [1: "has no proper trail"])
        // What an earlier version exported may have come from anywhere.
        #expect(manifest.soundSegments.map(\.way) == [Trail.none.adding(nil), Trail.none.adding("a"), .none])
    }
}
