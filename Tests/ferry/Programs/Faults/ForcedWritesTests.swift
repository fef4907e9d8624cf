import Foundation
import TestSupport
import Testing

@testable import FerrySpool

@Suite("What is forced to the disk, and in which order")
struct ForcedWritesTests {
    private let folder = TemporaryFolder()

    /// Starts a command whose forced writes, renames and removals are written down.
    private func start(
        _ strace: String, _ arguments: String..., input: String? = nil, program: [String] = [Program.ferry]
    ) throws -> Running {
        // Daemonized, strace is the child: signals go to the command.
        let options = ["-D", "-f", "-y", "-s", "300", "-o", folder("calls"), "-e"]
        let calls = "trace=fsync,fdatasync,syncfs,rename,renameat,renameat2,linkat,unlink,unlinkat,exit_group"
        return try Program(strace).start(options + [calls] + program + arguments, input: input)
    }

    /// The calls in the order in which they ended.
    private func calls() async throws -> [String] {
        var text = ""
        try await eventually("strace has written down the end") {
            text = (try? String(contentsOfFile: folder("calls"), encoding: .utf8)) ?? ""
            return text.contains("+++ exited")
        }
        var begun: [Substring: String] = [:]
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard fields.count == 2 else { return nil }
            let (thread, call) = (fields[0], String(fields[1]))
            if call.hasSuffix("<unfinished ...>") {
                begun[thread] = call
                return nil
            }
            return call.contains(" resumed>") ? begun.removeValue(forKey: thread) : call
        }
    }

    /// Whether there are calls, one after the other, that hold these words each.
    private func expect(
        _ calls: [String], inOrder wanted: [[String]], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var rest = calls[...]
        for words in wanted {
            guard let index = rest.firstIndex(where: { call in words.allSatisfy { call.contains($0) } }) else {
                Issue.record("no \(words) in its place among \(calls.joined(separator: "\n"))", sourceLocation: sourceLocation)
                return
            }
            rest = rest[(index + 1)...]
        }
    }

    @Test("A writer forces the segment, names it, forces the folder, and only then removes the journal", .needs("strace"))
    func write() async throws {
        let strace = try #require(Program.find("strace"))
        let result = try await start(strace, "write", "--create", "--spool", folder("spool"), input: "{}\n").end()
        #expect(result.status == 0, "\(result.errors)")
        expect(
            try await calls(),
            inOrder: [["fdatasync(", ".ferry-tmp>"], ["rename", ".jsonl.gz\""], ["fsync(", "/spool>"], ["unlink", ".open\""]])
        let removals = try await calls().prefix { !$0.contains("rename") || !$0.contains(".jsonl.gz\"") }
        #expect(!removals.contains { $0.contains("unlink") && $0.contains(".open\"") })
    }

    @Test("What goes into a folder is forced before it has its name, and the folder before the segment leaves", .needs("strace"))
    func copy() async throws {
        let strace = try #require(Program.find("strace"))
        let name = try folder.spool().put(Segments.gzip(Segments.lines(0..<100)))
        mkdir(folder("share"), 0o755)
        let result = try await start(strace, "upload", "--spool", folder("spool"), "--to", "file://\(folder("share"))").end()
        #expect(result.status == 0, "\(result.errors)")
        expect(
            try await calls(),
            inOrder: [
                ["fdatasync(", "/share/"], ["linkat(", "\"\(name)\""], ["fsync(", "/share>"],
                ["rename", "/sent/", "\"\(name)\""],
            ])
    }

    @Test(
        "The halves of a split are forced before they have their names, and the folder before their parent goes", .needs("strace")
    )
    func split() async throws {
        let strace = try #require(Program.find("strace"))
        let name = try folder.spool().put(Segments.gzip(Segments.lines(0..<100)))
        let limit = try #require(try folder.spool().directory.status(name)).size.bytes
        let server = ScriptedServer.answering { request in
            ScriptedServer.answer(request.body.count >= limit ? 413 : 200)
        }
        let result = try await start(strace, "upload", "--spool", folder("spool"), "--to", server.url).end()
        #expect(result.status == 0, "\(result.errors)")
        let half = try #require(SegmentName(name)?.halves).first.fileName
        try expect(
            await calls(),
            inOrder: [
                ["fdatasync(", ".ferry-tmp>"], ["rename", "\"\(half)\""], ["fsync(", "/spool>"], ["unlink", "\"\(name)\""],
            ])
    }

    @Test("A receiver forces the body, the hidden name of its file and its key before the segment has its name", .needs("strace"))
    func receive() async throws {
        let strace = try #require(Program.find("strace"))
        let hub = try start(strace, "receive", "--listen", "127.0.0.1:0", "--spool", folder("hub"))
        let line = try await hub.waitFor("listening on http://127.0.0.1:")
        let answer = try await RawClient.post(
            Segments.gzip("{}\n"), port: try #require(Int(line.prefix { $0.isNumber })),
            headers: ["Ferry-Segment": Segments.name().fileName])
        #expect(answer.status == 200)
        hub.send(SIGTERM)
        _ = await hub.end()
        expect(
            try await calls(),
            inOrder: [
                ["fdatasync(", ".ferry-in>"], ["fsync(", "/hub>"], ["fdatasync(", "/received-"], ["rename", ".ferry-in\""],
            ])
    }

    @Test("What was copied into a receiver's folder is forced, and the folder, before it is vouched for", .needs("strace"))
    func adopt() async throws {
        let strace = try #require(Program.find("strace"))
        let bytes = Segments.gzip("{}\n")
        let segment = Segments.name()
        let copy = try folder.spool("hub").put(bytes, as: Segments.name(9, id: segment.id))
        let hub = try start(strace, "receive", "--listen", "127.0.0.1:0", "--spool", folder("hub"))
        let line = try await hub.waitFor("listening on http://127.0.0.1:")
        let answer = try await RawClient.post(
            bytes, port: try #require(Int(line.prefix { $0.isNumber })),
            headers: ["Ferry-Segment": segment.fileName, "Idempotency-Key": "\"\(segment.id)\"", "Ferry-Spool": "another"])
        #expect(answer.status == 200)
        #expect(answer.body.contains("\"duplicate\":true"))
        hub.send(SIGTERM)
        _ = await hub.end()
        expect(try await calls(), inOrder: [["fdatasync(", "\(copy)>"], ["fsync(", "/hub>"], ["fdatasync(", "/received-"]])
    }

    @Test(
        "An uploader forces the ledger and its line before the segment moves into sent/, and the folders after that",
        .needs("strace"))
    func upload() async throws {
        let strace = try #require(Program.find("strace"))
        let name = try folder.spool().put(Segments.gzip("{}\n"))
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let result = try await start(strace, "upload", "--spool", folder("spool"), "--to", server.url).end()
        #expect(result.status == 0, "\(result.errors)")
        expect(
            try await calls(),
            inOrder: [
                ["fsync(", "/spool/.ferry>"], ["fdatasync(", "/ledger-"], ["rename", "\"\(name)\"", "/sent/"],
                ["fsync(", "/spool/sent/"], ["fsync(", "/spool>"],
            ])
    }

    @Test("A new spool's folders and its ID are forced before anything is counted on", .needs("strace"))
    func newSpool() async throws {
        let strace = try #require(Program.find("strace"))
        let result = try await start(strace, "init", folder("above/spool")).end()
        #expect(result.status == 0, "\(result.errors)")
        expect(
            try await calls(),
            inOrder: [
                ["fsync(", "<\(folder.path)>"], ["fsync(", "/above>"], ["fsync(", "/spool>"], ["rename", "spool-id\""],
                ["fsync(", "/.ferry>"],
            ])
    }

    @Test("Dropping ten thousand segments makes at most a hundred forced writes", .needs("strace"))
    func prune() async throws {
        let strace = try #require(Program.find("strace"))
        let spool = try folder.spool()
        let bytes = Segments.gzip("1\n")
        for number in 0..<10_000 {
            try OpenFile.creating(spool.directory.pathOf(Segments.name(second: number).fileName)).write(bytes)
        }
        let result = try await start(strace, "prune", "--spool", spool.path, "--max-spool-bytes", "1").end()
        #expect(result.status == 0, "\(result.errors)")
        let forced = try await calls().filter { $0.contains("sync(") }
        #expect((1...100).contains(forced.count))
        #expect(try spool.ledger.totals()[.evicted].segments == 10_000)
        #expect(try spool.pending().isEmpty)
    }

    @Test("An import forces everything that it copied before its keys are logged, and names it after that", .needs("strace"))
    func importBundle() async throws {
        let strace = try #require(Program.find("strace"))
        try folder.spool().put(Segments.gzip("{}\n"))
        try FileManager.default.createDirectory(atPath: folder("stick"), withIntermediateDirectories: false)
        let exported = try await Program().run("export", folder("stick"), "--spool", folder("spool"))
        #expect(exported.status == 0, "\(exported.errors)")
        let result = try await start(strace, "import", folder("stick"), "--spool", folder("hub")).end()
        #expect(result.status == 0, "\(result.errors)")
        expect(
            try await calls(),
            inOrder: [["syncfs(", "/hub>"], ["fdatasync(", "/received-"], ["rename", ".ferry-in\""]])
    }

    @Test("A tracker that stores on the disk forces its journal's name, and each event", .needs("python3", "strace"))
    func tracker() async throws {
        let strace = try #require(Program.find("strace"))
        let python = try #require(Program.find("python3"))
        let library = Program.built("libferrytracker.so")
        let script = """
            import os, sys
            sys.dont_write_bytecode = True
            sys.path.insert(0, "\(Program.checkout)/Sources/PyFerry")
            os.environ["FERRY_LIBRARY"] = "\(library)"
            import ferry
            with ferry.Tracker(sys.argv[1], durability="disk", lifecycle=False) as tracker:
                tracker.track("normal")
                tracker.track("critical", priority=ferry.Priority.CRITICAL)
            """
        try script.write(toFile: folder("track.py"), atomically: true, encoding: .utf8)
        let result = try await start(strace, folder("track.py"), folder("spool"), program: [python]).end()
        #expect(result.status == 0, "\(result.errors)")
        expect(
            try await calls(),
            inOrder: [["fsync(", "/spool>"], ["fdatasync(", ".open>"], ["fsync(", "/spool>"], ["fdatasync(", ".open>"]])
    }
}
