import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("What ferry list and ferry status say of a spool that nothing leaves")
struct StandstillProgramTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func store() async throws {
        let written = try await ferry.run("write", "--create", "--spool", folder("spool"), input: "{\"n\":1}\n")
        #expect(written.status == 0, "\(written.errors)")
    }

    private func run(_ arguments: [String]) async throws -> Program.Result { try await ferry.start(arguments).end() }

    /// Expects it of `list`, `status` and the line of a fleet, in words and for programs.
    ///
    /// - Parameter listed: What `list` says, where that is something else.
    private func expectTold(_ reason: String, _ text: String, listed: String? = nil) async throws {
        let looks = [
            (["list", "--spool", folder("spool")], listed ?? text), (["status", "--spool", folder("spool")], text),
            (["status", folder("spool")], text),
        ]
        for (look, text) in looks {
            let words = try await run(look).output
            #expect(words.contains(text), "\(look) \(words)")
            let json = try await run(look + ["--json"]).output
            #expect(json.contains("\"reason\":\"\(reason)\""), "\(look) \(json)")
        }
        #expect(try await run(["list", "--spool", folder("spool"), "--json"]).output.contains("\"state\":\"waits\""))
    }

    @Test("A pause and a disabled spool", arguments: [("pause", "paused"), ("disable", "disabled")])
    func told(command: String, state: String) async throws {
        try await store()
        #expect(try await run(["list", "--spool", folder("spool")]).output.hasSuffix("due\n"))
        _ = try await run([command, "--spool", folder("spool")])
        try await expectTold(state, state)
    }

    @Test("The destination's wait, after an upload that failed")
    func destination() async throws {
        try await store()
        // An hour: the looks take seconds on a busy machine.
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(503, "Retry-After: 3600\r\n") }
        let upload = try await ferry.run("upload", "--spool", folder("spool"), "--to", server.url)
        #expect(upload.status == 75)
        try await expectTold("destination-waits", "not tried before", listed: "tried 1 time: the destination: HTTP 503")
    }

    @Test("A closed window of the uploader that runs, and no more when it has ended")
    func window() async throws {
        try await store()
        let hour = (Calendar(identifier: .gregorian).component(.hour, from: Date(timeIntervalSinceNow: 7200)))
        let running = try ferry.start([
            "run", "--spool", folder("spool"), "--to", "http://127.0.0.1:1/", "--set", "timezone=UTC", "--set",
            "window=\(hour < 10 ? "0" : "")\(hour):00-\(hour < 10 ? "0" : "")\(hour):01",
        ])
        _ = try await running.waitFor("outside the upload window")
        let spool = try Spool.open(folder("spool"), access: .read)
        try await eventually("it is marked") { try spool.uploaderMark.read()?.mark.blocked != nil }
        try await expectTold("window-closed", "outside the upload window")
        running.send(SIGTERM)
        #expect(await running.end().status == 0)
        #expect(try await run(["list", "--spool", folder("spool")]).output.hasSuffix("due\n"))
    }

    @Test("A dry run of a paused spool prints nothing that would be sent, names what is not, and says why")
    func dryRun() async throws {
        try await store()
        let dryRun = ["upload", "--dry-run", "--spool", folder("spool"), "--to", "http://127.0.0.1:1/"]
        let due = try await run(dryRun)
        let name = try #require(due.output.split(separator: "\t").first.map(String.init))
        _ = try await run(["pause", "--spool", folder("spool")])
        let paused = try await run(dryRun)
        #expect(paused.status == 0)
        #expect(paused.output.isEmpty)
        #expect(paused.errors.contains("nothing would be sent now: the spool is paused"), "\(paused.errors)")
        #expect(paused.errors.contains("1 segment not sent, the spool is paused"), "\(paused.errors)")
        #expect(paused.errors.contains(": \(name)\n"), "\(paused.errors)")
    }

    @Test("A dry run with a limit also says what would be deleted beyond it")
    func dryRunWithLimit() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        let bytes = Segments.gzip("{}\n")
        for (second, priority) in [0, 0, 9, 9, 9].enumerated() {
            try spool.put(bytes, as: Segments.name(priority, second: second))
        }
        let dryRun = try await run([
            "upload", "--dry-run", "--spool", spool.path, "--to", "http://127.0.0.1:1/", "--limit", "1", "--max-spool-bytes",
            "\(3 * bytes.count + 1)B",
        ])
        #expect(dryRun.output.split(separator: "\n").count == 1)
        #expect(dryRun.errors.contains("2 segments not sent, but deleted first"), "\(dryRun.errors)")
        #expect(dryRun.errors.contains("2 segments over --limit"), "\(dryRun.errors)")
    }
}
