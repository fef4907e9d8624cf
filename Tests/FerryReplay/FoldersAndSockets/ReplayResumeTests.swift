import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryReplay
@testable import FerryUpload

@Suite("Replays that go on, and archives with namesakes")
struct ReplayResumeTests {
    private let folder = TemporaryFolder()

    private static let moment = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!

    /// Takes everything, and remembers the bodies by their keys.
    private final class Seen: Sendable {
        let requests = Mutex<[(key: String, body: [UInt8])]>([])

        func server(status: Int = 200) -> ScriptedServer {
            ScriptedServer.answering { request in
                self.requests.withLock { $0.append((request["idempotency-key"] ?? "", request.body)) }
                return ScriptedServer.answer(status)
            }
        }
        var keys: [String] { requests.withLock { $0.map(\.key) } }
        var bodies: [[UInt8]] { requests.withLock { $0.map(\.body) } }
    }

    private func events(_ seen: Seen) throws -> [String] {
        try seen.bodies.flatMap { body in
            let path = folder("body-\(UUID())")
            try OpenFile.creating(path).write(body)
            return try Segments.lines(of: OpenFile.reading(path))
        }
    }

    private func archive(_ count: Int, in name: String = "archive") throws -> String {
        try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        for second in 0..<count {
            try OpenFile.creating("\(folder(name))/\(Segments.name(second: second).fileName)").write(
                Segments.gzip("{\"n\":\(second)}\n"))
        }
        return folder(name)
    }

    private func options(_ server: ScriptedServer, _ paths: [String]) throws -> ReplayOptions {
        var upload = UploadOptions(destination: try DestinationURL(server.url))
        upload.parallel = 1
        upload.ignoresWaits = true
        return ReplayOptions(paths: paths, upload: upload)
    }

    private func begin() throws -> ReplayRun {
        try ReplayRun.begin(in: folder("state"), arguments: [], at: Self.moment)
    }

    private func resumed(_ run: ReplayRun) throws -> ReplayRun {
        try #require(try ReplayRun.resume(run.id, in: folder("state")))
    }

    @Test("What is not sent yet is sent, though the sources before it were pruned, and new ones came")
    func prunedSources() async throws {
        let path = try archive(6)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        let files = try Replay(options).files().files
        try run.setSources(files)
        try run.save { $0.sources = 2 }
        for file in files.prefix(2) { try FileManager.default.removeItem(atPath: file.path) }
        try OpenFile.creating("\(path)/\(Segments.name(0, second: 9).fileName)").write(Segments.gzip("{\"n\":9}\n"))
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(report.damaged.isEmpty)
        #expect(try events(seen) == (2..<6).map { "{\"n\":\($0)}" })
    }

    @Test("A source that has gone since the replay began is named, and the others are sent")
    func goneSource() async throws {
        let path = try archive(4)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        let files = try Replay(options).files().files
        try run.setSources(files)
        try FileManager.default.removeItem(atPath: files[1].path)
        let report = try await Replay(options).run(resumed(run))
        #expect(report.damaged.map(\.path) == [files[1].path])
        #expect(try events(seen) == [0, 2, 3].map { "{\"n\":\($0)}" })
    }

    @Test("A replay of a version that wrote no sources down starts over, with the same keys")
    func oldRun() async throws {
        let path = try archive(4)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        try run.save { $0.sources = 3 }
        let warnings = Mutex<[String]>([])
        let report = try await Replay(options) { event in
            if case .warning(let text) = event { warnings.withLock { $0.append(text) } }
        }.run(resumed(run))
        #expect(report.sent == 4)
        #expect(warnings.withLock { $0.contains { $0.contains("starts over") } })
    }

    /// Stages everything, as far as a process comes that dies before it notes the position.
    private func stageUnnoted(_ options: ReplayOptions, _ run: inout ReplayRun) throws -> [String] {
        let files = try Replay(options).files().files
        try run.setSources(files)
        var stage = try Stage(run, options, EventFilter(.init()), ReplayReport())
        for file in files { try stage.add(file) }
        return try run.spool.directory.names().filter { $0.hasPrefix(".staged-") }
    }

    @Test("What was staged and not noted is staged again, whatever a power cut left in its place")
    func stagedAgain() async throws {
        let path = try archive(3)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        let staged = try stageUnnoted(options, &run)
        #expect(staged.count == 3)
        #expect(try run.spool.pending().isEmpty)
        try FileManager.default.removeItem(atPath: "\(run.spool.path)/\(staged[2])")
        try OpenFile.creating("\(run.spool.path)/\(staged[2])").write([])
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(report.rejected == 0)
        #expect(try events(seen) == (0..<3).map { "{\"n\":\($0)}" })
    }

    @Test("What was noted and has no name yet gets it, and is not staged again")
    func notedUnnamed() async throws {
        let path = try archive(3)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        _ = try stageUnnoted(options, &run)
        try run.save {
            $0.sources = 3
            $0.chunks = 1
        }
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(try events(seen) == (0..<3).map { "{\"n\":\($0)}" })
        #expect(Set(seen.keys).count == 3)
    }

    @Test(
        "A source that grows between a killed replay and its resumption, or twice, is sent once, with all its events",
        arguments: [false, true])
    func grown(_ isGzip: Bool) async throws {
        let path = folder(isGzip ? "a.jsonl.gz" : "a.jsonl")
        func bytes(_ number: Int) -> [UInt8] {
            isGzip ? Segments.gzip("{\"n\":\(number)}\n") : Array("{\"n\":\(number)}\n".utf8)
        }
        try OpenFile.creating(path).write(bytes(0))
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        #expect(try stageUnnoted(options, &run).count == 1)
        try OpenFile.creating(path, appending: true).write(bytes(1))
        // The process that goes on dies too.
        let files = try #require(try run.sources())
        run = try resumed(run)
        try run.nameStaged()
        var stage = try Stage(run, options, EventFilter(.init()), ReplayReport())
        try stage.add(files[0])
        try OpenFile.creating(path, appending: true).write(bytes(2))
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(try events(seen) == (0..<3).map { "{\"n\":\($0)}" })
        #expect(seen.keys.count == 1)
        #expect(report.grown.map(\.path) == [path])
    }

    @Test("A run that one process sends is under way for another, which is told at once and changes nothing")
    func underWay() async throws {
        let path = try archive(2)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        let run = try begin()
        let holder = try run.taken()
        await #expect(throws: ReplayError.underWay(run: run.id, process: getpid())) {
            try await Replay(options).run(resumed(run))
        }
        #expect(seen.keys.isEmpty)
        try holder.remove()
        await #expect(throws: ReplayError.gone(run: run.id)) { try await Replay(options).run(run) }
    }

    @Test("A paced replay whose segments are split ends when all halves are sent")
    func pacedSplit() async throws {
        try OpenFile.creating(folder("a.jsonl")).write(Array(Segments.lines(0..<100).utf8))
        let stored = Mutex<[[UInt8]]>([])
        let place = folder
        let server = ScriptedServer.answering { request in
            let path = place("body-\(UUID())")
            guard (try? OpenFile.creating(path).write(request.body)) != nil, let file = try? OpenFile.reading(path),
                let lines = try? Segments.lines(of: file)
            else { return ScriptedServer.answer(500) }
            if lines.count > 3 { return ScriptedServer.answer(413) }
            stored.withLock { $0.append(Array(request.body)) }
            return ScriptedServer.answer(200)
        }
        var options = try options(server, [folder("a.jsonl")])
        options.pace = .rate(1000)
        let report = try await Replay(options).run(begin())
        #expect(report.isComplete)
        #expect(report.sentEvents == 100)
        #expect(report.remaining == 0)
        #expect(stored.withLock { $0.count } >= 34)
    }

    @Test("A paced replay counts an event that it leaves out once, however long the source")
    func pacedLeftOut() async throws {
        let lines = (0..<50_000).map { "{\"n\":\($0),\"odd\":\($0 % 2 == 1)}\n" }.joined() + "no event\n"
        try OpenFile.creating(folder("a.jsonl")).write(Array(lines.utf8))
        let server = Seen().server()
        var options = try options(server, [folder("a.jsonl")])
        options.filter.condition = "odd == false"
        options.pace = .rate(10_000_000)
        let report = try await Replay(options).run(begin())
        #expect(report.isComplete)
        #expect(report.sentEvents == 25_000)
        #expect(report.leftOut == 25_000)
        #expect(report.unreadable == 1)
    }

    @Test("A paced replay sends what stands before the damage of a source, names it, and goes on with the next")
    func pacedDamage() async throws {
        let whole = Segments.gzip(Segments.lines(0..<10))
        try OpenFile.creating(folder("a.jsonl.gz")).write(whole + [0x1f, 0x8b, 0x08, 0xff, 0xff])
        try OpenFile.creating(folder("b.jsonl")).write(Array("{\"n\":10}\n".utf8))
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [folder("a.jsonl.gz"), folder("b.jsonl")])
        options.pace = .rate(1_000_000)
        let report = try await Replay(options).run(begin())
        #expect(report.damaged.map(\.path) == [folder("a.jsonl.gz")])
        #expect(try events(seen).sorted() == (0...10).map { "{\"n\":\($0)}" }.sorted())
    }

    @Test("What times are shifted by is written down before anything is staged")
    func shiftFirst() throws {
        try OpenFile.creating(folder("a.jsonl")).write(Array("{\"t\":1000}\n{\"t\":1010}\n".utf8))
        var options = try options(Seen().server(), [folder("a.jsonl")])
        options.filter.timeField = "t"
        options.filter.shiftsTimeToNow = true
        let replay = try Replay(options)
        var run = try begin()
        let files = try replay.files().files
        let filter = try replay.fixShift(files, &run)
        let shift = try #require(filter.shift)
        #expect(try resumed(run).position.shift == shift.wholeMilliseconds)
        var again = try resumed(run)
        #expect(try replay.fixShift(files, &again).shift == shift)
    }

    @Test("A paced replay that is interrupted within a file goes on with the same shift, each event once under one key")
    func pacedShift() async throws {
        let times = (0..<12).map { 1_700_000_000 + $0 * 7 }
        try OpenFile.creating(folder("a.jsonl")).write(Array(times.map { "{\"t\":\($0)}\n" }.joined().utf8))
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [folder("a.jsonl")])
        options.filter.timeField = "t"
        options.filter.shiftsTimeToNow = true
        // One event a request, the next one much later.
        options.pace = .rate(0.0001)
        let run = try begin()
        let current = Mutex<Replay?>(nil)
        let replay = try Replay(options) { event in if case .sent = event { current.withLock { $0 }?.stop() } }
        current.withLock { $0 = replay }
        let first = try await replay.run(run)
        #expect(first.sourcesDone == 0)
        #expect(first.sent == 1)
        let begun = try #require(try resumed(run).position.shift)
        // Past the second that the first shift was made in.
        let moment = Timestamp.now().milliseconds / 1000
        try await eventually("the next second") { Timestamp.now().milliseconds / 1000 > moment }
        options.pace = .rate(1_000_000)
        let second = try await Replay(options).run(resumed(run))
        #expect(second.isComplete)
        let shifted = try events(seen).compactMap { Int($0.dropFirst(5).dropLast()) }.sorted()
        #expect(shifted.map { $0 - shifted[0] } == times.map { $0 - times[0] })
        #expect(shifted.count == 12)
        #expect(seen.keys.count == 2)
        #expect(abs(Int64(shifted[0] - times[0]) * 1000 - begun) < 1000)
    }

    @Test("A part that was about to be published when its process died is made again as it was")
    func part() async throws {
        try OpenFile.creating(folder("a.jsonl")).write(Array(Segments.lines(0..<10).utf8))
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [folder("a.jsonl")])
        options.pace = .rate(1_000_000)
        var run = try begin()
        try run.setSources(Replay(options).files().files)
        try run.save {
            $0.lines = 2
            $0.part = ReplayRun.Part(events: 3, created: Self.moment)
        }
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(try events(seen) == (2..<10).map { "{\"n\":\($0)}" })
        #expect(seen.keys.count == 2)
    }

    @Test("Two files of one name, size and time in two folders are two sources with two keys")
    func namesakes() async throws {
        for (name, text) in [("a", "{\"n\":1}\n"), ("b", "{\"n\":2}\n")] {
            try FileManager.default.createDirectory(atPath: folder("days/\(name)"), withIntermediateDirectories: true)
            let path = folder("days/\(name)/export.jsonl")
            try OpenFile.creating(path).write(Array(text.utf8))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
        }
        let seen = Seen()
        let server = seen.server()
        let report = try await Replay(options(server, [folder("days"), folder("days/a/export.jsonl")])).run(begin())
        #expect(report.sources == 2)
        #expect(try Set(events(seen)) == ["{\"n\":1}", "{\"n\":2}"])
        #expect(Set(seen.keys).count == 2)
    }

    @Test("A copy of a segment in another folder is sent once, another file of its name as well, and what sent/ kept as NAME~1")
    func copies() async throws {
        let path = try archive(1)
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: path).first)
        for (place, text) in [
            ("copy/\(name)", "{\"n\":0}\n"), ("other/\(name)", "{\"n\":1}\n"), ("other/\(name)~1", "{\"n\":2}\n"),
        ] {
            try FileManager.default.createDirectory(
                atPath: (folder(place) as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try OpenFile.creating(folder(place)).write(Segments.gzip(text))
        }
        let seen = Seen()
        let server = seen.server()
        let report = try await Replay(options(server, [path, folder("copy"), folder("other")])).run(begin())
        #expect(report.sources == 3)
        #expect(try Set(events(seen)) == ["{\"n\":0}", "{\"n\":1}", "{\"n\":2}"])
        #expect(Set(seen.keys).count == 3)
    }

    @Test("A failure of the run's own folder is no fault of a source, and one that may pass leaves the source for the next try")
    func failures() throws {
        let run = try begin()
        let stage = try Stage(run, options(Seen().server(), []), EventFilter(.init()), ReplayReport())
        func meaning(_ path: String, _ code: Int32) -> String {
            switch stage.meaning(of: FileError("open", path, code: code)) {
            case .own: "own"
            case .unread: "unread"
            case .lasting: "lasting"
            }
        }
        #expect(meaning(run.spool.path + "/.x.ferry-tmp", EMFILE) == "own")
        #expect(meaning("/archive/a.jsonl", EIO) == "unread")
        #expect(meaning("/archive/a.jsonl", ENOENT) == "lasting")
    }

    @Test("A source that could not be read is tried again when the replay goes on, and the others are not")
    func unread() async throws {
        let path = try archive(3)
        let seen = Seen()
        let server = seen.server()
        let options = try options(server, [path])
        var run = try begin()
        try run.setSources(Replay(options).files().files)
        try run.save {
            $0.sources = 3
            $0.unread = [1, 99]
        }
        let report = try await Replay(options).run(resumed(run))
        #expect(report.isComplete)
        #expect(try events(seen) == ["{\"n\":1}"])
        #expect(try resumed(run).position.unread == [])
    }

    @Test("A path that is no file of events is named, and a pipe stops nothing")
    func noEvents() async throws {
        let path = try archive(2)
        try OpenFile.creating(folder("events.txt")).write([1])
        #expect(mkfifo(folder("pipe.jsonl"), 0o600) == 0)
        let seen = Seen()
        let server = seen.server()
        let report = try await Replay(options(server, [folder("events.txt"), folder("pipe.jsonl"), path])).run(begin())
        #expect(report.sent == 2)
        #expect(report.damaged.map(\.path) == [folder("events.txt"), folder("pipe.jsonl")])
    }
}
