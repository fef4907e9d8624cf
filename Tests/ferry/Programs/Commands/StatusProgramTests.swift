import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry status says what is wrong, where, since when, and what to do")
struct StatusProgramTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func run(_ arguments: [String]) async throws -> Program.Result { try await ferry.start(arguments).end() }

    @discardableResult
    private func spool(_ name: String, segments: Int = 1) throws -> Spool {
        let spool = try Spool.open(folder(name), access: .create)
        for index in 0..<segments {
            try spool.put(
                Segments.gzip("{}\n"), as: SegmentName(priority: .normal, created: .now() - .seconds(Int64(index)), id: .random())
            )
        }
        return spool
    }

    private func reject(_ spool: Spool, _ message: String) throws {
        let rejected = try spool.directory.makeDirectory("rejected")
        let name = Segments.name(second: 9).fileName
        try rejected.replace(name, with: Segments.gzip("{}\n"), durable: false)
        let reason = """
            {"version":1,"at":"2026-11-21T03:15:02.123Z","kind":"status","status":400,"message":\(message.jsonQuoted),"attempts":1}
            """
        try rejected.replace("\(name).reason.json", with: Array(reason.utf8), durable: false)
    }

    @Test("Of a fleet what waits for a person comes first, with its reason and a command; the exit status is 1")
    func fleet() async throws {
        for name in ["hub/web1", "hub/web2", "hub/web3"] { try spool(name) }
        try reject(try spool("hub/web9"), "HTTP 400: no")
        let pause = try await run(["pause", folder("hub/web3")])
        #expect(pause.status == 0, "\(pause.errors)")
        let status = try await run(["status", folder("hub/*")])
        let lines = status.output.split(separator: "\n").map(String.init)
        #expect(status.status == 1, "\(status.errors)")
        #expect(lines[1].contains("web9  rejected 1"), "\(lines)")
        #expect(lines[1].contains("HTTP 400: no; ferry status --spool"), "\(lines)")
        #expect(lines[2].contains("web3  paused"), "\(lines)")
        #expect(lines.last == "4 spools: 2 ok, 1 rejected, 1 paused")
        let json = try await run(["status", "--spool", folder("hub/*"), "--json"])
        #expect(json.status == 1)
        #expect(json.output.split(separator: "\n").count == 4)
        #expect(json.output.contains("\"state\":\"rejected\""))
    }

    @Test("All is well: exit status 0")
    func well() async throws {
        try spool("hub/a")
        let status = try await run(["status", folder("hub/*")])
        #expect(status.status == 0, "\(status.errors)")
        #expect(status.output.hasSuffix("\n1 spool: 1 ok\n"))
    }

    @Test("What cannot be read outweighs what waits for a person")
    func unreadable() async throws {
        try reject(try spool("hub/a"), "no")
        try FileManager.default.createDirectory(atPath: folder("hub/empty"), withIntermediateDirectories: true)
        let status = try await run(["status", folder("hub/*")])
        #expect(status.status == 74)
        #expect(status.output.contains("2 spools: 1 cannot be read, 1 rejected"), "\(status.output)")
    }

    @Test(
        "A folder above spools is no empty spool, and the pattern for it is told", arguments: ["status", "list", "cat", "pause"])
    func above(command: String) async throws {
        try spool("hub/a")
        let result = try await run([command, "--spool", folder("hub")])
        #expect(result.status == 74)
        #expect(result.errors.contains("is no spool, but holds spools: name them as '\(folder("hub"))/*'"), "\(result.errors)")
    }

    @Test(
        "Spools are named in one way in every command: by arguments and by --spool, as folders and as patterns",
        arguments: [
            ["list"], ["cat"], ["verify"], ["pause"], ["resume"], ["disable"], ["enable"], ["flush"], ["retry", "--all"],
            ["prune", "--max-spool-age", "1d"], ["upload", "--dry-run", "--to", "http://127.0.0.1:9/"], ["status"],
        ])
    func names(command: [String]) async throws {
        try spool("hub/web1")
        try spool("hub/web2")
        try spool("hub/db")
        for named in [[folder("hub/web*")], ["--spool", folder("hub/web*")], [folder("hub/web1"), folder("hub/web2")]] {
            let result = try await run(command + named)
            #expect(result.status == 0, "\(named) \(result.errors)")
            #expect(!(result.output + result.errors).contains(folder("hub/db")))
        }
        let none = try await run(command + [folder("hub/mail*")])
        #expect(none.status == 74)
        #expect(none.errors.contains("'\(folder("hub/mail*"))' matches nothing"), "\(none.errors)")
    }

    @Test(
        "A name that stands for nothing hides no other, and is told, with its status",
        arguments: [["status"], ["list"], ["cat"], ["report", "--text"]])
    func nothing(command: [String]) async throws {
        try spool("hub/a")
        let result = try await run(command + [folder("hub/*"), folder("none/*")])
        #expect(result.status == 74)
        #expect(!result.output.isEmpty)
        #expect(result.errors.contains("'\(folder("none/*"))' matches nothing: cannot open folder"), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test("A spool that several names lead to is one", arguments: [["status"], ["report", "--text"]])
    func twice(command: [String]) async throws {
        try spool("hub/a")
        try spool("hub/b")
        let result = try await run(command + [folder("hub/*"), folder("hub/a"), folder("hub/a/"), folder("hub/../hub/b")])
        #expect(result.output.contains("2 spools: 2 ok"), "\(result.output)")
    }

    @Test("The environment names spools as --spool does")
    func environment() async throws {
        try spool("hub/a")
        try spool("hub/b")
        let program = Program(environment: ["FERRY_SPOOL": folder("hub/*")])
        let status = try await program.run("status")
        #expect(status.status == 0, "\(status.errors)")
        #expect(status.output.contains("2 spools: 2 ok"), "\(status.output)")
        let one = try await program.run("write", input: "{}\n")
        #expect(one.status == 64)
        #expect(one.errors.contains("may be several spools, and one is to be named here"), "\(one.errors)")
        #expect(try await run(["init", folder("hub/*")]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: folder("hub/*")))
    }

    @Test(
        "Without an output, what does nothing but print fails", arguments: ["status", "list", "cat", "verify", "report --text"])
    func closedOutput(command: String) async throws {
        try spool("s")
        let shell = Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder("s")])
        let result = try await shell.run("-c", "\"$FERRY\" \(command) --spool \"$DIR\" >&-")
        #expect(result.status == 74)
        #expect(result.errors.contains("cannot write standard output: Bad file descriptor"), "\(result.errors)")
    }

    @Test("One spool that fails does not stop the others, and the worst status counts")
    func others() async throws {
        try FileManager.default.createDirectory(atPath: folder("hub/a"), withIntermediateDirectories: true)
        try spool("hub/b")
        let result = try await run(["cat", folder("hub/*")])
        #expect(result.output == "{}\n")
        #expect(result.status == 74)
        #expect(result.errors.contains("\(folder("hub/a")): "), "\(result.errors)")
    }

    @Test("A destination that was mistyped is not told any more once something was delivered; another is told by its URL")
    func destinations() async throws {
        try spool("spool")
        func upload(_ url: String) async throws -> Program.Result {
            try await run(["upload", "--spool", folder("spool"), "--to", url, "--retry-now"])
        }
        let dead = "http://127.0.0.1:\(LoopbackPort.own())/v1/segments"
        #expect(try await upload(dead).status == 75)
        let failing = try await run(["status", "--spool", folder("spool")])
        #expect(failing.output.contains("  \(dead)  "), "\(failing.output)")
        let hub = try await Hub(folder("hub"))
        #expect(try await upload(hub.url).status == 0)
        await hub.stop()
        let status = try await run(["status", "--spool", folder("spool")])
        #expect(!status.output.contains(dead), "\(status.output)")
        #expect(status.output.contains("ok\n"), "\(status.output)")
        #expect(status.output.contains("kept      1 segment"), "\(status.output)")
        #expect(status.output.contains(" ago) to \(hub.url)"), "\(status.output)")
        #expect(status.status == 0)
    }

    @Test("A reason of a megabyte with control characters is one short line")
    func hostile() async throws {
        try reject(try spool("hub/a"), "HTTP 400: \u{1b}[2J\u{202e}\n" + String(repeating: "x", count: 1 << 20))
        for arguments in [["status", folder("hub/*")], ["status", folder("hub/a")], ["status", folder("hub/*"), "--json"]] {
            let status = try await run(arguments)
            let commands = status.output.unicodeScalars.filter {
                $0 != "\n" && $0.properties.generalCategory == .control || $0 == "\u{202e}"
            }
            #expect(commands.isEmpty)
            #expect(status.output.split(separator: "\n").allSatisfy { $0.count < 5000 }, "\(arguments)")
        }
    }

    @Test("Watching without a terminal prints the page again, after an empty line, until a signal ends it")
    func watching() async throws {
        try spool("hub/a")
        let running = try ferry.start(["status", folder("hub/*"), "--watch", "100ms"])
        try await eventually("two pages") { running.output.contains("1 ok\n\nSPOOL") }
        running.send(SIGINT)
        let result = await running.end()
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.output.contains("\u{1b}"))
    }

    @Test("A replay of a spool says that what is pending is no part of it")
    func replay() async throws {
        try spool("spool", segments: 2)
        let result = try await run(
            ["replay", folder("spool"), "--to", "http://127.0.0.1:9/", "--dry-run", "--state", folder("state")])
        #expect(result.errors.contains("has 2 pending segments: a replay sends what was sent before"), "\(result.errors)")
    }

    @Test("An export into a spool is a mistake, and the right command is told")
    func export() async throws {
        try spool("spool")
        let result = try await run(["export", folder("spool")])
        #expect(result.status == 64)
        #expect(result.errors.contains("ferry export FOLDER --spool \(folder("spool"))"), "\(result.errors)")
    }
}
