import FerrySpool
import Foundation
import TestSupport
import Testing

/// What cron would mail: the exit status of commands with `--quiet`, and what they say.
@Suite("Commands that say only what a person must mend")
struct QuietTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()
    private static let nowhere = "http://127.0.0.1:1/v1/segments"

    /// A command line that ends with a status.
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let status: Int32
        /// What it says; `nil`: nothing at all.
        var says: String?
        /// In place of the words that begin with a slash: a path in the test's folder.
        let arguments: String
        var testDescription: String { name }
    }

    private func arguments(_ text: String) -> [String] {
        (text + " --quiet").split(separator: " ").map { $0.hasPrefix("/") ? folder(String($0.dropFirst())) : String($0) }
    }

    private func expect(_ one: Case, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let result = try await ferry.start(arguments(one.arguments)).end()
        check(result, one, sourceLocation)
    }

    private func check(_ result: Program.Result, _ one: Case, _ sourceLocation: SourceLocation = #_sourceLocation) {
        let said = result.output + result.errors
        #expect(result.status == one.status, "\(said)", sourceLocation: sourceLocation)
        if let says = one.says {
            #expect(said.contains(says), "\(said)", sourceLocation: sourceLocation)
        } else {
            #expect(said.isEmpty, "\(said)", sourceLocation: sourceLocation)
        }
    }

    private func run(_ text: String) async throws {
        let result = try await ferry.start(arguments(text)).end()
        try #require([0, 75].contains(result.status), "\(text): \(result.errors)")
    }

    /// A spool with three segments, files to write, and a stick with its bundle.
    private func prepare() async throws {
        try Segments.lines(0..<30).write(toFile: folder("in"), atomically: true, encoding: .utf8)
        try "{}\nno event\n".write(toFile: folder("bad"), atomically: true, encoding: .utf8)
        for name in ["stick", "other", "state"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        try await run("write --create --spool /spool --roll-events 10 /in")
        try await run("write --create --spool /travels --roll-events 10 /in")
        try await run("export /stick --spool /travels")
    }

    private func damage(_ spool: String) throws {
        try Spool.open(folder(spool), access: .write).put(Array(Segments.gzip("{}\n").dropLast(4)), as: Segments.name(9))
        let name = try #require(try Spool.open(folder(spool), access: .read).pending().last)
        // It does not grow any more.
        try OpenFile.reading("\(folder(spool))/\(name)").setModified(time(nil) - 100)
    }

    @Test(
        "By the status of a command and what it finds, it says something or nothing",
        arguments: [
            Case(name: "upload, offline", status: 75, arguments: "upload --spool /spool --to \(nowhere)"),
            Case(name: "upload of several spools, offline", status: 75, arguments: "upload /spool /travels --to \(nowhere)"),
            Case(
                name: "upload to several, offline", status: 75,
                arguments: "upload --spool /spool --to a=\(nowhere) --to b=\(nowhere)"),
            Case(
                name: "upload, no such host", status: 75,
                arguments: "upload --spool /spool --to http://nowhere.invalid/v1/segments"),
            Case(name: "write", status: 0, arguments: "write --create --spool /new /in"),
            Case(name: "write of an invalid line", status: 65, says: "line 2", arguments: "write --spool /spool /bad"),
            Case(
                name: "write that skips an invalid line", status: 65, says: "skipped",
                arguments: "write --spool /spool --skip-invalid /bad"),
            Case(name: "write of what is missing", status: 74, says: "No such file", arguments: "write --spool /spool /missing"),
            Case(name: "export", status: 0, arguments: "export /other --spool /spool"),
            Case(name: "export of nothing", status: 0, arguments: "export /other --spool /travels"),
            Case(name: "export of what fits", status: 75, arguments: "export /other --spool /spool --max-bytes 24KB"),
            Case(
                name: "export to what is missing", status: 74, says: "nothing is marked",
                arguments: "export /missing --spool /spool"),
            Case(name: "import", status: 0, arguments: "import /stick --spool /spool"),
            Case(
                name: "import of nothing", status: 65, says: "there is no bundle", arguments: "import /other --spool /spool"),
            Case(
                name: "acknowledge of what is missing", status: 74, says: "No such file",
                arguments: "acknowledge /no --spool /spool"),
            Case(name: "verify", status: 0, arguments: "verify --spool /spool"),
            Case(name: "prune", status: 0, arguments: "prune --max-spool-bytes 1 --spool /spool"),
            Case(
                name: "prune by an age that no clock vouches for", status: 0, arguments: "prune --max-spool-age 1d --spool /spool"
            ),
            Case(
                name: "a spool that is missing", status: 74, says: "there is no",
                arguments: "upload --spool /missing --to \(nowhere)"),
        ])
    func table(_ one: Case) async throws {
        try await prepare()
        try await expect(one)
    }

    @Test("An upload tells of refusals and faults, and of no wait, pause, limit or interruption")
    func upload() async throws {
        try await prepare()
        let upload = "upload --spool /spool --to"
        try await expect(Case(name: "offline", status: 75, arguments: "\(upload) \(Self.nowhere)"))
        try await expect(Case(name: "it waits", status: 75, arguments: "\(upload) \(Self.nowhere)"))
        try await run("pause --spool /spool")
        try await expect(Case(name: "paused", status: 75, arguments: "\(upload) \(Self.nowhere)"))
        try await run("resume --spool /spool")
        let silent = ScriptedServer { $0.waitForClose() }
        let asked = ScriptedServer { [folder] peer in
            if peer.head() != nil { _ = FileManager.default.createFile(atPath: folder("asked"), contents: nil) }
            peer.waitForClose()
        }
        try await expect(Case(name: "no time", status: 75, arguments: "\(upload) \(silent.url) --time-limit 200ms"))
        let running = try ferry.start(arguments("\(upload) \(asked.url) --retry-now"))
        try await eventually("a request") { FileManager.default.fileExists(atPath: folder("asked")) }
        running.send(SIGINT)
        running.send(SIGINT)
        let interrupted = await running.end()
        #expect([75, 130].contains(interrupted.status) && interrupted.errors.isEmpty && interrupted.output.isEmpty)

        let server = ScriptedServer { peer in
            if peer.request() != nil { peer.send(ScriptedServer.answer(200)) }
            while peer.request() != nil { peer.send(ScriptedServer.answer(503)) }
        }
        try await expect(
            Case(name: "partly sent", status: 75, arguments: "\(upload) \(server.url) --parallel 1 --coalesce off --retry-now"))
        for (status, ending, says) in [(401, 77, "HTTP 401"), (422, 65, "is rejected")] as [(Int, Int32, String)] {
            let server = ScriptedServer.answering { _ in ScriptedServer.answer(status) }
            try await expect(Case(name: says, status: ending, says: says, arguments: "\(upload) \(server.url) --retry-now"))
        }
        try await expect(Case(name: "nothing to do", status: 0, arguments: "\(upload) \(Self.nowhere)"))
        try "{}\n".write(toFile: folder("spool/nightly.jsonl"), atomically: true, encoding: .utf8)
        try await expect(Case(name: "no segment", status: 0, says: "nightly.jsonl", arguments: "\(upload) \(Self.nowhere)"))
    }

    @Test("Damaged segments are told of, by every command that finds them")
    func damaged() async throws {
        try await prepare()
        try damage("spool")
        try await expect(Case(name: "verify", status: 65, says: "(pending): ", arguments: "verify --spool /spool"))
        try await expect(Case(name: "export", status: 75, says: "no whole gzip", arguments: "export /other --spool /spool"))
        let bundle = try #require(try FileManager.default.contentsOfDirectory(atPath: folder("stick")).first)
        try FileManager.default.removeItem(atPath: folder("stick/\(bundle)/000002.gz"))
        try await expect(Case(name: "import", status: 65, says: "is missing", arguments: "import /stick --spool /spool"))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder("stick"))
        let receipt = "/stick/\(try #require(names.first { $0.contains("receipt") }))"
        try await expect(Case(name: "acknowledge", status: 0, arguments: "acknowledge \(receipt) --spool /travels"))
        try await expect(Case(name: "again", status: 0, arguments: "acknowledge \(receipt) --spool /travels"))
        try await expect(
            Case(name: "elsewhere", status: 65, says: "nothing is changed", arguments: "acknowledge \(receipt) --spool /spool"))
    }

    @Test("A replay that has begun tells its ID, without which nothing goes on; one that is resumed waits without a word")
    func replay() async throws {
        try await prepare()
        let hub = try await Hub(folder("hub"))
        try await run("upload --spool /spool --to \(hub.url)")
        let replay = "replay /spool --state /state --to"
        try await expect(Case(name: "sent", status: 0, arguments: "\(replay) \(hub.url)"))
        await hub.stop()
        let begun = try await ferry.start(arguments("\(replay) \(hub.url)")).end()
        check(begun, Case(name: "offline", status: 75, says: "ferry replay --resume ", arguments: ""))
        let id = try #require(begun.errors.firstMatch(of: /--resume ([a-z0-9]+)/)?.1)
        try await expect(Case(name: "resumed", status: 75, arguments: "replay --resume \(id) --state /state"))
    }

    @Test("A full disk is told of")
    func fullDisk() async throws {
        guard folder.mount("size=256k") else { return }
        try await prepare()
        let noise = try Segments.noiseLines(500_000)
        try noise.write(toFile: folder("in"), atomically: true, encoding: .utf8)
        try await run("write --create --spool /large /in")
        try await run("export /other --spool /large")
        try await run("init /m/spool")
        try await expect(Case(name: "import", status: 73, says: "No space left", arguments: "import /other --spool /m/spool"))
        try await expect(Case(name: "write", status: 73, says: "No space left", arguments: "write --spool /m/spool /in"))
    }
}
