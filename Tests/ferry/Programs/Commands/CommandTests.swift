import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("The commands, as a user runs them")
struct CommandTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()
    private var spool: String { folder("spool") }

    @Test("Write, status, list, cat, upload, receive, verify: the main job")
    func mainJob() async throws {
        let events = try String(contentsOfFile: "\(Program.checkout)/fixtures/README.md", encoding: .utf8)
            .split(separator: "\n").map { "{\"line\":\(String($0).jsonQuoted)}" }.joined(separator: "\n")
        let written = try await ferry.run(
            "write", "--create", "--spool", spool, "--stream", "docs", "--roll-events", "10", input: events)
        #expect(written.status == 0)
        #expect(written.output.hasPrefix("wrote "))
        let list = try await ferry.run("list", "--spool", spool, "--json")
        #expect(list.output.split(separator: "\n").count > 1)
        #expect(list.output.contains("\"state\":\"due\""))
        let before = try await ferry.run("cat", "--spool", spool)
        #expect(before.output == events + "\n")

        let hub = try await Hub(folder("hub"))
        let dry = try await ferry.run("upload", "--spool", spool, "--to", hub.url, "--dry-run", "--limit", "1")
        #expect(dry.output.split(separator: "\n").count == 1)
        let upload = try await ferry.run("upload", "--spool", spool, "--to", hub.url)
        #expect(upload.status == 0, "\(upload.errors)")
        await hub.stop()

        #expect(try await ferry.run("cat", "--spool", folder("hub")).output == before.output)
        #expect(try await ferry.run("verify", "--spool", folder("hub")).status == 0)
        let status = try await ferry.run("status", "--spool", spool)
        #expect(status.output.contains("nothing is pending"))
        #expect(status.output.contains("sent"))
    }

    @Test("An invalid line stops with file, line and column, and everything before it is published")
    func invalidLine() async throws {
        let file = folder("events.jsonl")
        try "{\"a\":1}\n{\"b\":2}\n{\"c\" 3}\n{\"d\":4}\n".write(toFile: file, atomically: true, encoding: .utf8)
        let stopped = try await ferry.run("write", "--create", "--spool", spool, file)
        #expect(stopped.status == 65)
        #expect(stopped.errors.contains("\(file), line 3, column 6"))
        #expect(try await ferry.run("cat", "--spool", spool).output == "{\"a\":1}\n{\"b\":2}\n")

        let skipped = try await ferry.run(
            "write", "--create", "--spool", folder("s2"), "--skip-invalid", "--invalid", folder("bad"), file)
        #expect(skipped.status == 65)
        #expect(skipped.output.contains("1 invalid"))
        #expect(try String(contentsOfFile: folder("bad"), encoding: .utf8) == "{\"c\" 3}\n")
        #expect(try await ferry.run("cat", "--spool", folder("s2")).output == "{\"a\":1}\n{\"b\":2}\n{\"d\":4}\n")
    }

    @Test("A line over 1 MiB is no event, and only that line is left out")
    func longLine() async throws {
        let long = "{\"x\":\"" + String(repeating: "a", count: 3 << 20) + "\"}"
        let result = try await ferry.run(
            "write", "--create", "--spool", spool, "--skip-invalid", "--invalid", folder("bad"), input: "1\n\(long)\n2\n")
        #expect(result.status == 65)
        #expect(try await ferry.run("cat", "--spool", spool).output == "1\n2\n")
        #expect(try String(contentsOfFile: folder("bad"), encoding: .utf8) == long + "\n")
    }

    @Test("SIGTERM publishes what was read, and a slow pipe's events are published in time")
    func slowPipe() async throws {
        let pipe = folder("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let writer = try ferry.start(["write", "--create", "--spool", spool, "--roll-after", "300ms", pipe])
        let end = try #require(FileHandle(forUpdatingAtPath: pipe))
        try end.write(contentsOf: Data("{\"n\":1}\n".utf8))
        let opened = try Spool.open(spool, access: .create)
        // The journal goes after its segment is there.
        try await eventually("the first event is published") {
            try !opened.pending().isEmpty && opened.scan().openJournals == 0
        }
        #expect(try opened.events(in: [.pending]) == ["{\"n\":1}"])

        try end.write(contentsOf: Data("{\"n\":2}\n{\"unfini".utf8))
        try await eventually("the second event is read") {
            try opened.scan().openJournals == 1 || opened.pending().count == 2
        }
        writer.send(SIGTERM)
        let result = await writer.end()
        #expect(result.status == 130)
        #expect(result.errors.contains("unfinished line"))
        #expect(try opened.events(in: [.pending]) == ["{\"n\":1}", "{\"n\":2}"])
    }

    @Test("Damaged fixtures are found, rejected with their kind and place, and salvaged")
    func fixtures() async throws {
        let opened = try Spool.open(spool, access: .create)
        let kinds = [
            "truncated": "truncated", "bad-crc": "corrupt", "trailing-garbage": "trailing-garbage", "empty": "empty",
            "not-gzip": "not-gzip",
        ]
        var names: [String: String] = [:]
        for (index, fixture) in kinds.keys.sorted().enumerated() {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: Program.fixture("damaged/\(fixture).jsonl.gz")))
            names[try opened.put(Array(bytes), as: Segments.name(second: index))] = fixture
        }
        #expect(try await ferry.run("verify", "--spool", spool).status == 65)
        let hub = try await Hub(folder("hub"))
        let upload = try await ferry.run("upload", "--spool", spool, "--to", hub.url, "--verify", "always")
        // What is cut off may be still on its way (rsync --inplace): it is given ten minutes.
        #expect(upload.status == 75, "\(upload.errors)")
        #expect(try Set(opened.pending().map { names[$0] }) == ["truncated", "empty"])
        #expect(try await ferry.run("list", "--spool", spool).output.contains("due"))
        await hub.stop()
        for segment in try opened.rejected.segments() { #expect(segment.reason?.kind == kinds[names[segment.name]!]) }
        let salvage = try await ferry.run("retry", "--all", "--salvage", "--spool", spool)
        #expect(salvage.output.split(separator: "\n").count == 1, "\(salvage.errors)")
        #expect(salvage.status == 65, "\(salvage.errors)")
        #expect(salvage.errors.contains("may be altered"), "\(salvage.errors)")
        #expect(try opened.pending().count == 3)
        let unverified = try await ferry.run("retry", "--all", "--salvage", "--unverified", "--spool", spool)
        #expect(unverified.output.contains("may be altered, among them"), "\(unverified.output) \(unverified.errors)")
        #expect(try opened.pending().count == 4)
        let again = try await ferry.run("retry", "--all", "--salvage", "--spool", spool)
        #expect(again.output.components(separatedBy: "was saved before").count == 3, "\(again.output)\(again.errors)")
        #expect(try opened.pending().count == 4)
        let salvaged = try #require(try opened.rejected.segments().first { $0.reason?.salvagedAs != nil })
        let back = try await ferry.run("retry", salvaged.name, "--spool", spool)
        #expect(back.status == 65, "\(back.errors)")
        #expect(back.errors.contains("would be sent twice"), "\(back.errors)")
        let all = try await ferry.run("retry", "--all", "--spool", spool)
        #expect(all.status == 0, "\(all.output)\(all.errors)")
        #expect(all.output.components(separatedBy: "stays in rejected/").count == 3, "\(all.output)\(all.errors)")
        #expect(try opened.pending().count == 5)
    }

    @Test("The receiver refuses what is no JSON, and takes two members and foreign names")
    func foreignFixtures() async throws {
        let opened = try Spool.open(spool, access: .create)
        for (index, fixture) in ["not-json.jsonl.gz", "two-members.jsonl.gz", "foreign name.ndjson.gz"].enumerated() {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: Program.fixture("damaged/\(fixture)")))
            if fixture.contains(" ") {
                try opened.directory.replace(fixture, with: Array(bytes), durable: false)
            } else {
                try opened.put(Array(bytes), as: Segments.name(second: index))
            }
        }
        let hub = try await Hub(folder("hub"))
        let upload = try await ferry.run("upload", "--spool", spool, "--to", hub.url)
        #expect(upload.status == 65, "\(upload.errors)")
        await hub.stop()
        #expect(try opened.rejected.segments().first?.reason?.body?.contains("\"line\":2") == true)
        #expect(try Spool.open(folder("hub"), access: .read).scan().entries.count == 2)
    }

    @Test("A bomb is stopped at the limit")
    func bomb() async throws {
        let opened = try Spool.open(spool, access: .create)
        try opened.put(Array(Data(contentsOf: URL(fileURLWithPath: Program.fixture("damaged/bomb.jsonl.gz")))))
        let result = try await ferry.run(
            "upload", "--spool", spool, "--to", "http://127.0.0.1:9/", "--verify", "always", "--inflate-limit", "16MiB")
        #expect(result.status == 65, "\(result.errors)")
        #expect(try opened.rejected.segments().first?.reason?.kind == "inflates-too-far")
    }

    @Test("Exit codes tell what happened")
    func exitCodes() async throws {
        _ = try await ferry.run("write", "--create", "--spool", spool, input: "{}\n")
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(401, body: "who are you") }
        let misconfigured = try await ferry.run("upload", "--spool", spool, "--to", server.url)
        #expect(misconfigured.status == 77)
        #expect(misconfigured.errors.contains("who are you"))
        let unreachable = try await ferry.run("upload", "--spool", spool, "--to", "http://127.0.0.1:9/")
        #expect(unreachable.status == 75)
        #expect(try await ferry.run("upload", "--spool", spool).status == 64)
        #expect(try await ferry.run("upload", "--spool", folder("nowhere"), "--to", server.url).status == 74)
        #expect(try await ferry.run("upload", "--spool", spool, "--to", "https://h/", "--ca", folder("no.pem")).status == 78)
        #expect(
            try await ferry.run("write", "--create", "--spool", spool, "--max-spool-bytes", "1", "--priority", "9", input: "{}\n")
                .status
                == 73)
        #expect(try await ferry.run("frobnicate").status == 64)
    }

    @Test("Secrets come from files, and appear in no message and no file of the spool")
    func secrets() async throws {
        _ = try await ferry.run("write", "--create", "--spool", spool, input: "{}\n")
        try "s3cr3t-t0ken\n".write(toFile: folder("token"), atomically: true, encoding: .utf8)
        let refused = try await ferry.run(
            "upload", "--spool", spool, "--to", "http://h/", "--header", "Authorization: Bearer s3cr3t-t0ken")
        #expect(refused.status == 64)
        #expect(!refused.errors.contains("s3cr3t"))
        let hub = try await Hub(folder("hub"), ["--token-file", folder("token")])
        #expect(try await ferry.run("upload", "--spool", spool, "--to", hub.url).status == 77)
        let upload = try await ferry.run("upload", "--spool", spool, "--to", hub.url, "--token-file", folder("token"))
        #expect(upload.status == 0)
        await hub.stop()
        let grep = try await Program("/bin/grep").run("-r", "s3cr3t", spool, folder("hub"))
        #expect(grep.status == 1)
    }

    @Test("The demonstration ends well")
    func demo() async throws {
        let demo = try await ferry.run("demo")
        #expect(demo.status == 0, "\(demo.errors)")
        #expect(demo.output.contains("1982 events"))
        #expect(demo.output.contains("Nothing is missing, nothing is there twice."))
        if let range = demo.output.range(of: "rm -r /tmp/ferry-demo-") {
            let path = "/tmp/ferry-demo-" + demo.output[range.upperBound...].prefix { !$0.isNewline }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test("The producers that spool/README.md shows work as they stand there", .needs("python3"), arguments: ["sh", "python"])
    func producers(language: String) async throws {
        let page = try String(contentsOfFile: "\(Program.checkout)/spool/README.md", encoding: .utf8)
        let block = try #require(page.components(separatedBy: "```\(language)\n").dropFirst().first)
        let code = block.components(separatedBy: "\n```")[0]
        try code.write(toFile: folder("producer"), atomically: true, encoding: .utf8)
        _ = try Spool.open(spool, access: .create)
        let interpreter = try #require(Program.find(language == "sh" ? "sh" : "python3"))
        let result = try await Program(interpreter, environment: ["SPOOL": spool]).run(
            folder("producer"), input: "{\"n\":1}\n{\"n\":2}\n")
        #expect(result.status == 0, "\(result.errors)")
        let opened = try Spool.open(spool, access: .read)
        #expect(try opened.pending().count == 1)
        #expect(try opened.pending().allSatisfy { SegmentName($0) != nil })
        #expect(try opened.events(in: [.pending]).count == 2)
        #expect(try await ferry.run("verify", "--spool", spool).status == 0)
    }

    @Test("Bodies in other forms: what does not go together is refused, before anything is sent")
    func bodies() async throws {
        _ = try await ferry.run("write", "--create", "--spool", spool, input: "{\"name\":\"a\"}\n{\"name\":\"b\"}\n")
        let upload = ["upload", "--spool", spool, "--to", "http://127.0.0.1:1/"]
        let noID = try await ferry.start(upload + ["--body", "measurement"]).end()
        #expect(noID.status == 64)
        #expect(noID.errors.contains("--body measurement needs --tracking-id"))
        let joined = try await ferry.start(upload + ["--body", "json-array", "--coalesce", "1MiB"]).end()
        #expect(joined.status == 64)
        #expect(joined.errors.contains("--coalesce joins segments as they are"))
        try Data("to: http://127.0.0.1:1/\nspools: [\(spool)]\ncoalesce: 1MiB\nbody: measurement\n".utf8)
            .write(to: URL(fileURLWithPath: folder("ferry.yaml")))
        let config = try await ferry.run("config", "check", "--config", folder("ferry.yaml"))
        #expect(config.status == 78)
        #expect(config.errors.contains("ferry.yaml:4: 'body: measurement' needs 'tracking-id'"))
        #expect(config.errors.contains("ferry.yaml:3: 'coalesce' joins segments as they are"))
        try Data("to: http://127.0.0.1:1/{id}\nspools: [\(spool)]\nrequest-events: 20\nbody: json-array\n".utf8)
            .write(to: URL(fileURLWithPath: folder("ferry.yaml")))
        let parts = try await ferry.run("config", "check", "--config", folder("ferry.yaml"))
        #expect(parts.status == 78)
        #expect(parts.errors.contains("ferry.yaml:3: 'request-events' cuts segments into parts"))
    }
}
