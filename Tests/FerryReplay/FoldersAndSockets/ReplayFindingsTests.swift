import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryReplay
@testable import FerryUpload

@Suite("What a replay finds in its sources, over all of its processes")
struct ReplayFindingsTests {
    private let folder = TemporaryFolder()

    /// Answers as told, and remembers the events of the bodies that it took, each key once: a request that is stopped while it is answered comes again.
    private final class Seen: Sendable {
        let status = Mutex(200)
        let bodies = Mutex<[[UInt8]]>([])
        private let keys = Mutex<Set<String>>([])

        func server() -> ScriptedServer {
            ScriptedServer.answering { request in
                let status = self.status.withLock { $0 }
                if status == 200, self.keys.withLock({ $0.insert(request["idempotency-key"] ?? "").inserted }) {
                    self.bodies.withLock { $0.append(request.body) }
                }
                return ScriptedServer.answer(status)
            }
        }
    }

    private func events(_ seen: Seen) throws -> [String] {
        try seen.bodies.withLock { $0 }.flatMap { body in
            let path = folder("body-\(UUID())")
            try OpenFile.creating(path).write(body)
            return try Segments.lines(of: OpenFile.reading(path))
        }
    }

    private func write(_ name: String, _ text: String) throws -> String {
        try OpenFile.creating(folder(name)).write(Array(text.utf8))
        return folder(name)
    }

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

    /// Sends until the first segment is there.
    private func replayFirst(_ options: ReplayOptions, _ run: ReplayRun) async throws -> ReplayReport {
        let current = Mutex<Replay?>(nil)
        let replay = try Replay(options) { event in if case .sent = event { current.withLock { $0 }?.stop() } }
        current.withLock { $0 = replay }
        return try await replay.run(run)
    }

    @Test(
        "What a process left out, could not read, or found damaged is told by the one that ends the run",
        arguments: [ReplayOptions.Pace.unlimited, .rate(1_000_000)])
    func goneOn(_ pace: ReplayOptions.Pace) async throws {
        let whole = Segments.gzip("{\"n\":5}\n")
        try OpenFile.creating(folder("cut.jsonl.gz")).write(Array(whole.dropLast(12)))
        let paths = try [
            write("a.jsonl", "{\"n\":0}\n{\"n\":1}\n"), folder("cut.jsonl.gz"), write("c.jsonl", "no event\n{\"n\":2}\n"),
            write("d.txt", ""),
        ]
        let seen = Seen()
        seen.status.withLock { $0 = 503 }
        let server = seen.server()
        var options = try options(server, paths)
        options.pace = pace
        options.filter.condition = "n < 2"
        let run = try begin()
        let first = try await Replay(options).run(run)
        #expect(!first.isComplete)
        seen.status.withLock { $0 = 200 }
        let last = try await Replay(options).run(resumed(run))
        #expect(last.isComplete)
        #expect(Set(last.damaged.map(\.path)) == [folder("cut.jsonl.gz"), folder("d.txt")])
        #expect(last.unreadable == 1)
        #expect(last.leftOut == 1)
    }

    @Test("What earlier processes had rejected counts, and the run's folder stays with it")
    func rejected() async throws {
        let seen = Seen()
        seen.status.withLock { $0 = 400 }
        let server = seen.server()
        let options = try options(server, [write("a.jsonl", "{\"n\":0}\n"), write("b.jsonl", "{\"n\":1}\n")])
        let run = try begin()
        #expect(try await Replay(options).run(run).rejected == 2)
        let again = try await Replay(options).run(resumed(run))
        #expect(again.rejected == 2)
        #expect(again.isComplete)
        try run.remove()
        #expect(try run.spool.rejected.segments().count == 2)
    }

    @Test("A paced replay that goes on within a source counts what it leaves out once")
    func pacedCounts() async throws {
        let lines = (0..<12).map { $0 == 6 ? "no event\n" : "{\"n\":\($0),\"odd\":\($0 % 2 == 1)}\n" }.joined()
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [write("a.jsonl", lines)])
        options.filter.condition = "odd == false"
        // One event a request, the next one much later.
        options.pace = .rate(0.000_1)
        let run = try begin()
        #expect(try await replayFirst(options, run).sent == 1)
        options.pace = .rate(1_000_000)
        let last = try await Replay(options).run(resumed(run))
        #expect(last.isComplete)
        #expect(last.leftOut == 6)
        #expect(last.unreadable == 1)
        #expect(try events(seen).count == 5)
    }

    @Test("The first names are kept, and of the others how many there were")
    func manyNames() throws {
        var report = ReplayReport()
        report.damaged = (0..<30).map { ("/\($0)", String(repeating: "x", count: 10_000)) }
        let findings = ReplayFindings(report)
        #expect(findings.firstDamaged.count == 20)
        #expect(findings.firstDamaged[0].reason.count == 500)
        let again = ReplayReport(findings)
        #expect(again.damagedCount == 30)
        #expect(ReplayFindings(again) == findings)
    }

    @Test("A gap that is waited for long is told with its event and its end, and a bound on gaps goes on")
    func longGap() async throws {
        let path = try write("a.jsonl", "{\"t\":1700000000}\n{\"t\":4900000000}\n{\"t\":1700000001}\n")
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [path])
        options.filter.timeField = "t"
        options.pace = .original(factor: 1)
        let warnings = Mutex<[String]>([])
        let current = Mutex<Replay?>(nil)
        let replay = try Replay(options) { event in
            guard case .warning(let text) = event else { return }
            warnings.withLock { $0.append(text) }
            current.withLock { $0 }?.stop()
        }
        current.withLock { $0 = replay }
        let run = try begin()
        #expect(try await replay.run(run).sourcesDone == 0)
        let warning = try #require(warnings.withLock { $0 }.first)
        #expect(warning.contains("event 2 of \(path) has the time 2125-04-10T"), "\(warning)")
        #expect(warning.contains("--resume \(run.id) --max-gap"), "\(warning)")
        options.maxGap = .milliseconds(20)
        let last = try await Replay(options).run(resumed(run))
        #expect(last.isComplete)
        #expect(try events(seen).count == 3)
    }

    @Test("Files of events, and folders, whose names are not UTF-8 are named; others are passed over")
    func unusableNames() throws {
        func make(_ bytes: [UInt8], isFolder: Bool = false) {
            let path = Array(folder("archive/").utf8) + bytes + [0]
            path.withUnsafeBufferPointer { path in
                path.withMemoryRebound(to: CChar.self) { path in
                    if isFolder { #expect(mkdir(path.baseAddress!, 0o700) == 0) } else { close(creat(path.baseAddress!, 0o600)) }
                }
            }
        }
        #expect(mkdir(folder("archive"), 0o700) == 0)
        make(Array("caf".utf8) + [0xe9] + Array(".jsonl.gz".utf8))
        make([0x4d, 0xe4] + Array("rz".utf8), isFolder: true)
        make([0xe9] + Array(".txt".utf8))
        make([0x2e, 0xe9] + Array(".jsonl.gz".utf8))
        _ = try write("archive/whole.jsonl", "{}\n")
        var source = ReplaySource()
        try source.add(folder("archive"))
        #expect(source.files.count == 1)
        #expect(Set(source.problems.map(\.path)) == [folder("archive/caf\u{fffd}.jsonl.gz"), folder("archive/M\u{fffd}rz")])
        #expect(source.problems.allSatisfy { $0.reason.contains("UTF-8") })
    }

    @Test("A replay's own folder is no source, wherever it lies")
    func ownFolder() throws {
        try FileManager.default.createDirectory(atPath: folder("src"), withIntermediateDirectories: true)
        _ = try write("src/a.jsonl", "{\"n\":0}\n")
        let run = try ReplayRun.begin(in: folder("src/state"), arguments: [], at: .now())
        try run.spool.put(Segments.gzip("{\"n\":0}\n"), as: Segments.name())
        let files = try Replay(options(Seen().server(), [folder("src")])).files().files
        #expect(files.map(\.path.lastComponent) == ["a.jsonl"])
    }

    @Test("A paced replay goes on in a source that grew while it was killed, with every event once")
    func grown() async throws {
        let path = try write("a.jsonl", Segments.lines(0..<8))
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [path])
        options.pace = .rate(0.000_1)
        let run = try begin()
        #expect(try await replayFirst(options, run).sent == 1)
        try OpenFile.creating(path, appending: true).write(Array(Segments.lines(8..<10).utf8))
        options.pace = .rate(0.5)
        _ = try await replayFirst(options, resumed(run))
        try OpenFile.creating(path, appending: true).write(Array(Segments.lines(10..<12).utf8))
        options.pace = .rate(1_000_000)
        let last = try await Replay(options).run(resumed(run))
        #expect(last.isComplete)
        #expect(last.damaged.isEmpty)
        #expect(try events(seen).sorted() == (0..<12).map { "{\"n\":\($0)}" }.sorted())
    }

    @Test("A source whose staged events are not in it any more is named, and the next one is sent", arguments: [0, 1, 8])
    func replaced(_ kept: Int) async throws {
        let path = try write("a.jsonl", Segments.lines(0..<8))
        let next = try write("b.jsonl", "{\"n\":20}\n")
        for (path, time) in [(path, 1_700_000_000.0), (next, 1_700_000_100)] {
            try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: path)
        }
        let seen = Seen()
        let server = seen.server()
        var options = try options(server, [path, next])
        options.pace = .rate(0.000_1)
        let run = try begin()
        #expect(try await replayFirst(options, run).sent == 1)
        try FileManager.default.removeItem(atPath: path)
        _ = try write("a.jsonl", (0..<kept).map { "{\"n\":\($0 + 30)}\n" }.joined())
        options.pace = .rate(1_000_000)
        let last = try await Replay(options).run(resumed(run))
        #expect(last.damaged.map(\.path) == [path])
        #expect(try events(seen) == ["{\"n\":0}", "{\"n\":20}"])
    }
}

extension String {
    fileprivate var lastComponent: String { split(separator: "/").last.map(String.init) ?? self }
}
