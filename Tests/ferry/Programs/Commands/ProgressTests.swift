import FerrySpool
import Foundation
import Glibc
import TestSupport
import Testing

/// Commands that stand still at a certain moment, on terminals.
@Suite("How far a command is, while it runs")
struct ProgressTests {
    private let folder = TemporaryFolder()

    /// Ferry on a terminal, whose forced writes wait where the path of the file has an ending, until `goesOn` is there.
    private func held(at ending: String) async throws -> Program {
        let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <string.h>
            #include <unistd.h>
            static int held(const char *name, int descriptor) {
                char link[64], path[4096];
                snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
                long length = readlink(link, path, sizeof path - 1);
                path[length < 0 ? 0 : length] = 0;
                while (strstr(path, "\(ending)") && access("\(folder("goesOn"))", F_OK)) usleep(1000);
                int (*next)(int) = dlsym(RTLD_NEXT, name);
                return next(descriptor);
            }
            int fdatasync(int descriptor) { return held("fdatasync", descriptor); }
            int syncfs(int descriptor) { return held("syncfs", descriptor); }
            """
        return Program(environment: ["LD_PRELOAD": try await Preload.build(source, in: folder), "TERM": "xterm"])
    }

    private func goOn() { _ = FileManager.default.createFile(atPath: folder("goesOn"), contents: nil) }

    private func write(_ spool: String, _ lines: Range<Int> = 0..<30) async throws {
        let written = try await Program().run(
            "write", "--create", "--spool", folder(spool), "--roll-events", "10", input: Segments.lines(lines))
        try #require(written.status == 0, "\(written.errors)")
    }

    /// Prepares what a command needs, and returns its arguments.
    private func prepare(_ command: String) async throws -> [String] {
        func run(_ arguments: String...) async throws {
            let result = try await Program().start(arguments).end()
            try #require(result.status == 0, "\(result.errors)")
        }
        try await write("spool")
        let (spool, stick) = (folder("spool"), folder("stick"))
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        switch command {
        case "export": return ["export", stick, "--spool", spool]
        case "import":
            try await run("export", stick, "--spool", spool)
            try await run("init", folder("hub"))
            return ["import", stick, "--spool", folder("hub")]
        case "acknowledge":
            try await run("export", stick, "--spool", spool)
            try await run("import", stick, "--spool", folder("hub"))
            let receipt = try FileManager.default.contentsOfDirectory(atPath: stick).first { $0.contains("receipt") }
            return ["acknowledge", "\(stick)/\(try #require(receipt))", "--spool", spool]
        case "prune": return ["prune", "--max-spool-bytes", "1", "--spool", spool]
        default:
            try Segments.lines(0..<30).write(toFile: folder("input"), atomically: true, encoding: .utf8)
            return ["write", "--spool", spool, "--roll-events", "10", folder("input")]
        }
    }

    @Test(
        "A command that takes long has a line on a terminal of any width, which is gone at the end", .needs("cc"),
        arguments: [
            ("export", "/stick", "copied", "3 of 3"), ("import", "/hub", "took", "3 of 3"),
            ("acknowledge", "/ledger-", "acknowledged", "3 of 3"), ("prune", "/ledger-", "dropped", "3 of 3"),
            ("write", ".new.ferry-tmp", "read", "30 events"),
        ], [80, 40])
    func line(_ one: (command: String, ending: String, verb: String, amount: String), columns: Int) async throws {
        let arguments = try await prepare(one.command)
        let terminal = try Terminal(columns: columns)
        let running = try await held(at: one.ending).start(arguments, output: terminal.path, errors: terminal.path)
        let wanted = columns == 80 ? [one.verb, "] 100 %, \(one.amount)"] : [one.verb, "] 100 %"]
        try await eventually("the line in: \(terminal.written)") { wanted.allSatisfy { terminal.written.contains($0) } }
        goOn()
        let end = await running.end()
        let screen = terminal.screen
        #expect(end.status == 0, "\(screen.rows)")
        #expect(screen.others.isEmpty)
        #expect(screen.former.allSatisfy { $0.count < columns }, "\(screen.former)")
        #expect(screen.rows.allSatisfy { !$0.contains("] 100 %") }, "\(screen.rows)")
        #expect(!screen.rows.isEmpty)
    }

    @Test("A signal that ends a command removes the line first", .needs("cc"), arguments: [SIGINT, SIGTERM])
    func signal(number: Int32) async throws {
        let arguments = try await prepare("export")
        let terminal = try Terminal(columns: 80)
        let running = try await held(at: "/stick").start(arguments, output: terminal.path, errors: terminal.path)
        try await eventually("the line in: \(terminal.written)") { terminal.written.contains("copied [") }
        running.send(number)
        #expect(await running.end().status == number)
        #expect(terminal.screen.rows.isEmpty, "\(terminal.screen.rows)")
    }

    @Test("Of a pipe it is told what came; a warning stands in a line of its own, and nothing goes to standard output")
    func pipe() async throws {
        #expect(mkfifo(folder("input"), 0o600) == 0)
        let writer = open(folder("input"), O_RDWR | O_CLOEXEC)
        let terminal = try Terminal(columns: 80)
        let running = try Program(environment: ["TERM": "xterm"]).start(
            ["write", "--create", "--spool", folder("spool"), "--skip-invalid", folder("input")], errors: terminal.path)
        func send(_ text: String) { _ = text.withCString { Glibc.write(writer, $0, strlen($0)) } }
        send("{}\n{}\n")
        try await eventually("the line in: \(terminal.written)") { terminal.written.contains("read 2 events, 6 B") }
        send("no event\n")
        try await eventually("the line in: \(terminal.written)") { terminal.written.contains("read 2 events, 15 B") }
        close(writer)
        let end = await running.end()
        #expect(end.status == 65)
        #expect(end.output == "wrote 2 events in 1 segment to \(folder("spool")), 1 invalid line skipped\n")
        let screen = terminal.screen
        let rows = screen.rows.joined()
        #expect(
            rows.hasPrefix("ferry: made the spool \(folder("spool"))ferry: warning: ") && rows.hasSuffix("; skipped"), "\(rows)")
        #expect(screen.others.isEmpty && !terminal.written.contains("\u{1b}[3"))
    }

    @Test(
        "What waits for a server that does not answer has a line with a total, and leaves none when it is interrupted",
        arguments: ["upload", "upload several", "replay"])
    func stalled(command: String) async throws {
        let silent = ScriptedServer { $0.waitForClose() }
        try await write("spool")
        let terminal = try Terminal(columns: 80)
        let arguments: [String]
        let wanted: String
        switch command {
        case "upload": (arguments, wanted) = (["upload", "--spool", folder("spool"), "--to", silent.url], "0 of 3 segments")
        case "upload several":
            let to = ["--to", "a=\(silent.url)", "--to", "b=\(silent.url)"]
            (arguments, wanted) = (["upload", "--spool", folder("spool")] + to, "0 of 6 segments")
        default:
            let delivery = try await Hub(folder("hub"))
            let sent = try await Program().run("upload", "--spool", folder("spool"), "--to", delivery.url)
            await delivery.stop()
            try #require(sent.status == 0, "\(sent.errors)")
            (arguments, wanted) = (
                ["replay", folder("spool"), "--to", silent.url, "--state", folder("state")], "0 of 3 segments"
            )
        }
        let running = try Program(environment: ["TERM": "xterm"]).start(arguments, errors: terminal.path)
        try await eventually("the line in: \(terminal.written)") {
            terminal.written.contains("sent [") && terminal.written.contains("] 0 %, \(wanted)")
        }
        running.send(SIGINT)
        running.send(SIGINT)
        let end = await running.end()
        #expect([75, 130].contains(end.status))
        #expect(!end.output.contains("["))
        #expect(terminal.screen.rows.allSatisfy { !$0.contains("sent [") }, "\(terminal.screen.rows)")
    }

    @Test("Several spools have one total")
    func spools() async throws {
        let silent = ScriptedServer { $0.waitForClose() }
        try await write("one")
        try await write("two", 0..<20)
        let terminal = try Terminal(columns: 80)
        let running = try Program(environment: ["TERM": "xterm"]).start(
            ["upload", folder("one"), folder("two"), "--to", silent.url], errors: terminal.path)
        try await eventually("the line in: \(terminal.written)") { terminal.written.contains("0 of 5 segments") }
        running.send(SIGKILL)
        _ = await running.end()
    }

    /// It takes the ten seconds, and all of them at the same time.
    @Test("Without a terminal that moves its cursor a line comes by time, also where nothing happens")
    func plain() async throws {
        let silent = ScriptedServer { $0.waitForClose() }
        let terminal = try Terminal(columns: 80)
        func start(_ spool: String, in kind: String, _ more: [String] = [], errors: String? = nil) async throws -> Running {
            try await write(spool)
            let arguments = ["upload", "--spool", folder(spool), "--to", silent.url] + more
            return try Program(environment: ["TERM": kind]).start(arguments, errors: errors)
        }
        let toFile = try await start("a", in: "xterm")
        let toDumb = try await start("b", in: "dumb", errors: terminal.path)
        let quiet = try await start("c", in: "xterm", ["--quiet"])
        for text in [{ toFile.errors }, { terminal.written }] {
            try await eventually("the line") { text().contains("ferry: sent 0 %, 0 of 3 segments, 0 B of ") }
        }
        #expect(quiet.errors.isEmpty)
        for running in [toFile, toDumb, quiet] { running.send(SIGKILL) }
        #expect(await toFile.end().errors.hasPrefix("ferry: sent 0 %, "))
        _ = await toDumb.end()
        _ = await quiet.end()
        #expect(!terminal.written.contains("\u{1b}"))
        #expect(!terminal.written.replacing("\r\n", with: "").contains("\r"))
    }
}
