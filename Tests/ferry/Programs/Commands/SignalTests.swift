import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Signals, whenever they come and whatever hangs")
struct SignalTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func spoolWithOne() throws -> Spool {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        return spool
    }

    @Test("SIGTERM that comes while the configuration is read again ends the run all the same")
    func duringReload() async throws {
        let spool = try spoolWithOne()
        try "to: http://127.0.0.1:1/\nspools: [\(spool.path)]\n".write(
            toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        let run = try ferry.start(["run", "--config", folder("ferry.yaml")])
        _ = try await run.waitFor("segment pending")
        run.send(SIGHUP)
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
    }

    @Test("A configuration that cannot be read for ever keeps no run from ending")
    func reloadHangs() async throws {
        let spool = try spoolWithOne()
        let config = "to: http://127.0.0.1:1/\nspools: [\(spool.path)]\n"
        try config.write(toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        let run = try ferry.start(["run", "--config", folder("ferry.yaml")])
        _ = try await run.waitFor("segment pending")
        // Nothing writes into it.
        #expect(unlink(folder("ferry.yaml")) == 0)
        #expect(mkfifo(folder("ferry.yaml"), 0o600) == 0)
        run.send(SIGHUP)
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
    }

    @Test("SIGTERM ends run, write and upload in whatever moment of their start it comes")
    func early() async throws {
        let spool = try spoolWithOne()
        #expect(mkfifo(folder("input"), 0o600) == 0)
        // Held open: the reader waits for ever.
        let writer = open(folder("input"), O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let silent = ScriptedServer { $0.waitForClose() }
        let commands = [
            "run --quiet --spool \(spool.path) --to \(silent.url)", "write --spool \(spool.path) < \(folder("input"))",
            "upload --spool \(spool.path) --to \(silent.url)",
        ]
        for (index, delay) in stride(from: 0, to: 90, by: 3).enumerated() {
            let running = try Program("/bin/sh").start(["-c", "exec \(Program.ferry) \(commands[index % commands.count])"])
            try await Task.sleep(for: .milliseconds(delay))
            running.send(SIGTERM)
            // A second one cuts off the request that is never answered.
            try await Task.sleep(for: .milliseconds(200))
            running.send(SIGTERM)
            let end = await running.end()
            #expect([0, 15, 75, 130].contains(end.status), "\(delay) ms: \(end.status) \(end.errors)")
        }
    }

    @Test("A run hears signals before it has read its configuration: none of them ends it by default")
    func beforeConfiguration() async throws {
        #expect(mkfifo(folder("ferry.yaml"), 0o600) == 0)
        // Waits for someone who writes.
        let run = try ferry.start(["run", "--config", folder("ferry.yaml")])
        let wanted = [SIGHUP, SIGINT, SIGUSR1, SIGTERM].reduce(0 as UInt64) { $0 | 1 << UInt64($1 - 1) }
        try await eventually("its handlers are there") {
            let status = (try? String(contentsOfFile: "/proc/\(run.processIdentifier)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            let caught = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
            return caught & wanted == wanted
        }
        run.send(SIGHUP)
        run.send(SIGUSR1)
        // An empty configuration.
        try #require(FileHandle(forWritingAtPath: folder("ferry.yaml"))).close()
        #expect(await run.end().status == 78)
    }

    @Test("A receiver that is told to end finishes what it is answering; a second signal ends it at once")
    func receiver() async throws {
        let body = Segments.gzip("{}\n")
        for isImpatient in [false, true] {
            let hub = try await Hub(folder("hub\(isImpatient)"))
            let client = try RawClient(port: hub.port)
            client.send("POST /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\r\n")
            client.send([body[0]])
            try await eventually("its beginning has come") {
                try FileManager.default.contentsOfDirectory(atPath: hub.spool).contains { $0.hasSuffix(".ferry-in") }
            }
            hub.running.send(SIGTERM)
            try await eventually("no new connection is taken") { (try? RawClient(port: hub.port)) == nil }
            if isImpatient { hub.running.send(SIGTERM) } else { client.send(Array(body.dropFirst())) }
            let end = await hub.running.end()
            #expect(end.status == (isImpatient ? SIGTERM : 0))
            #expect(try Spool.open(hub.spool, access: .read).pending().count == (isImpatient ? 0 : 1))
        }
    }

    @Test("A disk that hangs makes no signal without effect", .needs("cc"))
    func hangingDisk() async throws {
        let compiler = try #require(Program.find("cc"))
        let source = """
            #include <unistd.h>
            static int hang(void) { while (access(HANGS, F_OK) == 0) usleep(20000); return 0; }
            int fsync(int fd) { return hang(); }
            int fdatasync(int fd) { return hang(); }
            """
        try source.write(toFile: folder("hang.c"), atomically: true, encoding: .utf8)
        let built = try await Program(compiler).run(
            "-shared", "-fPIC", "-DHANGS=\"\(folder("hangs"))\"", "-o", folder("hang.so"), folder("hang.c"))
        guard built.status == 0 else { return print("NOT TESTED: \(built.errors)") }
        let spool = try folder.spool()
        let hub = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let program = Program(environment: ["LD_PRELOAD": folder("hang.so")])
        for command in ["run", "upload"] {
            unlink(folder("hangs"))
            let isRun = command == "run"
            if !isRun { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 1)) }
            let running: Running
            if isRun {
                running = try program.start(["run", "--spool", spool.path, "--to", hub.url])
                _ = try await running.waitFor("pending")
                _ = FileManager.default.createFile(atPath: folder("hangs"), contents: nil)
                try spool.put(Segments.gzip("{}\n"), as: Segments.name())
            } else {
                _ = FileManager.default.createFile(atPath: folder("hangs"), contents: nil)
                running = try program.start(["upload", "--spool", spool.path, "--to", hub.url])
            }
            try await Task.sleep(for: .milliseconds(500))
            running.send(SIGTERM)
            try await Task.sleep(for: .milliseconds(100))
            running.send(SIGTERM)
            let end = await running.end()
            // One that heard of them before it waited for the disk was interrupted, as ever.
            #expect(end.status == 74 || (!isRun && end.status == 130), "\(command): \(end.status) \(end.errors)")
            unlink(folder("hangs"))
        }
    }

    @Test("Two runs on one spool: the second says whose company it is in, and both go on")
    func company() async throws {
        let spool = try spoolWithOne()
        let hub = try await Hub(folder("hub"))
        let first = try ferry.start(["run", "--spool", spool.path, "--to", hub.url])
        _ = try await first.waitFor("pending")
        let second = try ferry.start(["run", "--spool", spool.path, "--to", hub.url])
        _ = try await second.waitFor("sends from it too")
        _ = try await second.waitFor("pending")
        first.send(SIGTERM)
        #expect(await first.end().status == 0)
        let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: 9))
        try await eventually("the other sends") { try Spool.open(folder("hub"), access: .read).pending().contains(name) }
        second.send(SIGTERM)
        #expect(await second.end().status == 0)
        await hub.stop()
    }

    @Test("A spool whose file system is missing is no empty, healthy one: not in status, not in the metrics")
    func missing() async throws {
        #expect(mkdir(folder("empty"), 0o700) == 0)
        for path in ["empty", "nowhere"] {
            let status = try await ferry.run("status", "--spool", folder(path))
            #expect(status.status == 74)
            #expect(status.errors.contains(path == "empty" ? "is its file system mounted?" : "there is no spool"))
            let fleet = try await ferry.run("status", folder(path))
            #expect(fleet.status == 74)
        }
        let none = try await ferry.run("status", folder("empty") + "/*")
        #expect(none.status == 74)
        let run = try ferry.start([
            "run", "--spool", folder("empty"), "--to", "http://127.0.0.1:1/", "--set", "metrics.file=\(folder("metrics"))",
        ])
        _ = try await run.waitFor("is gone, or cannot be used")
        try await eventually("metrics") {
            let text = (try? String(contentsOfFile: folder("metrics"), encoding: .utf8)) ?? ""
            return text.contains("ferry_spool_available{spool=\"\(folder("empty"))\"} 0")
                && !text.contains("ferry_pending_segments{")
        }
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("empty")).isEmpty)
    }
}
