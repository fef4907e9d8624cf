import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryReplay
@testable import FerryUpload

@Suite("What a replay stages is a snapshot of its sources")
struct ReplaySnapshotTests {
    private let folder = TemporaryFolder()

    private final class Seen: Sendable {
        let status = Mutex(200)
        let bodies = Mutex<[[UInt8]]>([])

        func server() -> ScriptedServer {
            ScriptedServer.answering { request in
                let status = self.status.withLock { $0 }
                if status == 200 { self.bodies.withLock { $0.append(request.body) } }
                return ScriptedServer.answer(status)
            }
        }
    }

    private func events(_ seen: Seen) throws -> [String] {
        try seen.bodies.withLock { $0 }.flatMap { body in
            let path = folder("body-\(UUID())")
            try OpenFile.creating(path).write(body)
            return try Segments.lines(of: OpenFile.reading(path))
        }.sorted()
    }

    private func write(_ name: String, _ numbers: Range<Int>) throws -> String {
        let lines = numbers.map { "{\"n\":\($0)}\n" }.joined()
        try OpenFile.creating(folder(name)).write(name.hasSuffix(".gz") ? Segments.gzip(lines) : Array(lines.utf8))
        return folder(name)
    }

    private func lines(_ numbers: Range<Int>) -> [String] { numbers.map { "{\"n\":\($0)}" }.sorted() }

    private func options(_ server: ScriptedServer, _ paths: [String]) throws -> ReplayOptions {
        var upload = UploadOptions(destination: try DestinationURL(server.url))
        upload.parallel = 1
        upload.ignoresWaits = true
        return ReplayOptions(paths: paths, upload: upload)
    }

    private func begin() throws -> ReplayRun { try ReplayRun.begin(in: folder("state"), arguments: [], at: .now()) }

    private func resumed(_ run: ReplayRun) throws -> ReplayRun {
        try #require(try ReplayRun.resume(run.id, in: folder("state")))
    }

    @Test("Sources that another process has locked are sent")
    func locked() async throws {
        let paths = try (0..<3).map { try write("\(Segments.name(second: $0).fileName)", $0..<$0 + 1) }
        let holders = try paths.map { try OpenFile.reading($0) }
        #expect(holders.allSatisfy { $0.tryLock() })
        let seen = Seen()
        let server = seen.server()
        let report = try await Replay(options(server, paths)).run(begin())
        #expect(report.isComplete)
        #expect(try events(seen) == lines(0..<3))
    }

    @Test("A staged segment that another process has is named and does not count as done")
    func busy() async throws {
        let seen = Seen()
        seen.status.withLock { $0 = 503 }
        let server = seen.server()
        let options = try options(server, [write("a.jsonl.gz", 0..<1), write("b.jsonl.gz", 1..<2)])
        let run = try begin()
        #expect(try await Replay(options).run(run).remaining == 2)
        let name = try #require(try run.spool.pending().first)
        let claim = run.spool.claims.take(name)
        seen.status.withLock { $0 = 200 }
        let report = try await Replay(options).run(resumed(run))
        withExtendedLifetime(claim) {}
        #expect(report.busy == [name])
        #expect(!report.isComplete)
        #expect(report.remaining == 1)
    }

    @Test("An upload tells of segments that another process has")
    func taken() async throws {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("{}\n"))
        let claim = spool.claims.take(name)
        let server = Seen().server()
        let report = try await UploadPass(spool, options: UploadOptions(destination: DestinationURL(server.url))).run()
        withExtendedLifetime(claim) {}
        #expect(report.taken == 1)
        #expect(report.takenNames == [name])
    }

    @Test("What was staged of a source that is then written anew, or appended to, goes as it was", arguments: [false, true])
    func writtenAnew(_ appends: Bool) async throws {
        let path = try write("a.jsonl.gz", 0..<10)
        let seen = Seen()
        seen.status.withLock { $0 = 503 }
        let server = seen.server()
        let options = try options(server, [path])
        let run = try begin()
        #expect(try await Replay(options).run(run).remaining == 1)
        try OpenFile.creating(path, appending: appends).write(Segments.gzip("{\"n\":99}\n"))
        seen.status.withLock { $0 = 200 }
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(try events(seen) == lines(0..<10))
    }

    @Test(
        "A source that is replaced or emptied before it is staged is named and left out, and the others are sent",
        arguments: [ReplayOptions.Pace.unlimited, .rate(1_000_000)])
    func replaced(_ pace: ReplayOptions.Pace) async throws {
        let paths = try [
            write("a.jsonl", 0..<5), write("b.jsonl", 5..<10), write("c.jsonl.gz", 10..<15), write("d.jsonl", 15..<20),
        ]
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, paths)
        options.pace = pace
        var run = try begin()
        try run.setSources(Replay(options).files().files)
        // A rotation, a copytruncate, and a daily job that writes its file anew.
        try FileManager.default.moveItem(atPath: paths[0], toPath: folder("a.jsonl.1"))
        _ = try write("a.jsonl", 50..<80)
        try OpenFile.creating(paths[1]).write([])
        try FileManager.default.removeItem(atPath: paths[2])
        _ = try write("c.jsonl.gz", 80..<85)
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(report.damaged.map(\.path).sorted() == Array(paths[..<3]))
        #expect(report.damaged.allSatisfy { $0.reason.contains("changed after the replay began") })
        #expect(try events(seen) == lines(15..<20))
    }

    @Test("A source that is written to while it is copied is found out, appending is not a change")
    func duringTheCopy() throws {
        let path = try write("a.jsonl", 0..<10)
        let stamp = SourceStamp(try FileStatus(of: path))
        let source = try OpenSource(#require(ReplayFile(path: path, stamp: stamp)))
        try OpenFile.creating(path, appending: true).write([0x20])
        try source.requireOneContent()
        try OpenFile.creating(path).write([0x20])
        #expect(throws: SourceChangedError.self) { try source.requireOneContent() }
    }

    @Test(
        "A copy has the content up to its end when it was opened, the time and the notes", arguments: [0, 10, 1 << 16, 300_000])
    func copy(_ size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try OpenFile.creating(folder("a")).write(bytes)
        let source = try OpenFile.reading(folder("a"))
        let status = try source.status()
        try OpenFile.creating(folder("a"), appending: true).setTrail(#require(Trail("3 a b")))
        try OpenFile.creating(folder("a"), appending: true).write([1, 2, 3])
        let copy = try Directory.open(folder.path).create("b")
        try copy.takeContent(of: source, status)
        #expect(try copy.readBytes(size + 10, at: 0) == bytes)
        #expect(try copy.status().modified == status.modified)
        #expect(copy.trail == source.trail)
        #expect(try copy.status().inode != status.inode)
    }

    @Test("The list of a replay that an earlier version began is read, and its sources are compared by size and time")
    func firstList() throws {
        let path = try write("a.jsonl", 0..<1)
        let status = try FileStatus(of: path)
        let text = "ferry-replay-sources 1\n\(status.size.bytes) \(status.modified.milliseconds) 1 \(path)\n"
        let file = try #require(ReplayList.files(Array(text.utf8))?.first)
        #expect(file.stamp.change(to: SourceStamp(status)) == .none)
        #expect(ReplayList.files(ReplayList.bytes(of: [file])) == [file])
    }

    @Test("A path at which nothing is, is told before a replay begins")
    func mistyped() throws {
        let replay = try Replay(options(Seen().server(), [folder("nothere")]))
        #expect(throws: FileError.self) { try replay.requirePaths() }
    }
}
