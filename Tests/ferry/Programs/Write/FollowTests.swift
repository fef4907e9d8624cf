import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry write --follow takes each line of a log once")
struct FollowTests {
    private let folder = TemporaryFolder()
    private var log: String { folder("app.log") }
    private var spool: String { folder("s") }

    init() throws { _ = try Spool.open(folder("s"), access: .create) }

    private func append(_ text: String, to path: String? = nil) throws {
        let path = path ?? log
        if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private func append(_ numbers: ClosedRange<Int>, to path: String? = nil) throws {
        try append(numbers.map { "{\"n\":\($0)}\n" }.joined(), to: path)
    }

    private func follow(_ options: String...) throws -> Running {
        try Program().start(["write", "--spool", spool, "--follow", log, "--roll-after", "100ms"] + options)
    }

    private var stored: [String] { get throws { try Spool.open(spool, access: .read).events(in: [.pending]) } }

    /// Whether a file is followed of which nothing was read.
    private var isFollowed: Bool {
        get throws {
            let folder = folder("s/.ferry/follow")
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return try names.contains { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8).contains("\"length\":0") }
        }
    }

    private func numbers(_ range: ClosedRange<Int>) -> [String] { range.map { "{\"n\":\($0)}" } }

    private func waits(for range: ClosedRange<Int>) async throws {
        try await eventually("\(range) is stored") { try stored.count >= range.count }
        #expect(try stored == numbers(range))
    }

    private func stop(_ running: Running) async {
        running.send(SIGTERM)
        let result = await running.end()
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.errors.contains("not stored"), "\(result.errors)")
    }

    @Test("Lines are published as they come, a last one without its end waits, and another call goes on")
    func going() async throws {
        try append(1...3)
        let first = try follow()
        try await waits(for: 1...3)
        try append("{\"n\":4")
        await stop(first)
        #expect(try stored == numbers(1...3))
        try append("}\n{\"n\":5}\n")
        let again = try follow()
        try await waits(for: 1...5)
        await stop(again)
        try append(6...7)
        let second = try follow()
        try await waits(for: 1...7)
        await stop(second)
    }

    @Test("A log that is renamed is read to its end, and then the new one; also several times while nothing follows")
    func renamed() async throws {
        try append(1...2)
        let first = try follow()
        try await waits(for: 1...2)
        let writer = try #require(FileHandle(forWritingAtPath: log))
        try writer.seekToEnd()
        try FileManager.default.moveItem(atPath: log, toPath: folder("app.log.1"))
        try writer.write(contentsOf: Data("{\"n\":3}\n".utf8))
        try await waits(for: 1...3)
        try writer.close()
        try append(4...5)
        try await waits(for: 1...5)
        await stop(first)
        try append(6...6)
        try FileManager.default.moveItem(atPath: folder("app.log.1"), toPath: folder("app.log.3"))
        try FileManager.default.moveItem(atPath: log, toPath: folder("app.log.2"))
        try append(7...8, to: folder("app.log.1"))
        try append(9...9)
        let second = try follow()
        try await waits(for: 1...9)
        await stop(second)
    }

    @Test("A log that is copied and emptied goes on in the copy, and then from its start", arguments: [false, true])
    func copied(isRunning: Bool) async throws {
        try append(1...3)
        let first = try follow()
        try await waits(for: 1...3)
        if !isRunning { await stop(first) } else { first.send(SIGSTOP) }
        try append(4...5)
        try FileManager.default.copyItem(atPath: log, toPath: folder("app.log.1"))
        #expect(truncate(log, 0) == 0)
        // More than before: its length shows nothing.
        try append(6...20)
        let second = isRunning ? first : try follow()
        second.send(SIGCONT)
        try await waits(for: 1...20)
        await stop(second)
    }

    @Test(
        "logrotate's ways are followed", .needs("logrotate"),
        arguments: ["create", "copytruncate", "dateext\n create\n dateformat -%Y%m%d-%s"])
    func rotated(way: String) async throws {
        try "\(log) {\n rotate 5\n \(way)\n su root root\n}\n".write(toFile: folder("conf"), atomically: true, encoding: .utf8)
        try append(1...1)
        let running = try follow()
        try await waits(for: 1...1)
        for round in 0..<3 {
            // Of what it is emptied of something was read before: a copy is known by that.
            try append(round * 10 + 2...round * 10 + 6)
            try await waits(for: 1...round * 10 + 6)
            try append(round * 10 + 7...round * 10 + 11)
            let rotate = try await Program(try #require(Program.find("logrotate"))).run(
                "-f", "-s", folder("state"), folder("conf"))
            #expect(rotate.status == 0, "\(rotate.errors)")
            try await waits(for: 1...round * 10 + 11)
            let second = Int(Date().timeIntervalSince1970)
            try await eventually("another second, which is in the names") { Int(Date().timeIntervalSince1970) > second }
        }
        await stop(running)
    }

    @Test("What an empty log gets while nothing follows it is found in its copy")
    func emptyBefore() async throws {
        try append(1...2)
        let first = try follow()
        try await waits(for: 1...2)
        try FileManager.default.moveItem(atPath: log, toPath: folder("app.log.1"))
        try append("")
        try await eventually("the new log is followed") { try isFollowed }
        await stop(first)
        try FileManager.default.moveItem(atPath: folder("app.log.1"), toPath: folder("app.log.2"))
        try append(3...4)
        try FileManager.default.copyItem(atPath: log, toPath: folder("app.log.1"))
        #expect(truncate(log, 0) == 0)
        let second = try follow()
        try await waits(for: 1...4)
        await stop(second)
    }

    @Test("What was read last and is gone is told, and the log is read from its start")
    func gone() async throws {
        try append(1...2)
        let first = try follow()
        try await waits(for: 1...2)
        await stop(first)
        try FileManager.default.removeItem(atPath: log)
        try append(3...4, to: folder("new"))
        try FileManager.default.moveItem(atPath: folder("new"), toPath: log)
        let second = try follow()
        try await waits(for: 1...4)
        second.send(SIGTERM)
        let result = await second.end()
        #expect(result.errors.contains("what it held behind byte 16 is not stored"), "\(result.errors)")
    }

    @Test("Killed again and again while the log grows and is rotated, it stores each line once, in order")
    func killed() async throws {
        let script = """
            n=0; i=0
            while [ $n -lt 30000 ]; do
                seq -f '{"n":%.0f}' $((n + 1)) $((n + 500)) >>"$LOG"; n=$((n + 500)); i=$((i + 1))
                if [ $((i % 20)) = 0 ]; then mv "$LOG.2" "$LOG.3"; mv "$LOG.1" "$LOG.2"; mv "$LOG" "$LOG.1"; fi 2>/dev/null
                sleep 0.02
            done
            """
        // What a log was rotated to before it was followed for the first time is not looked for.
        try append("")
        let first = try follow()
        try await eventually("the log is followed") { try isFollowed }
        first.send(SIGKILL)
        _ = await first.end()
        let writer = try Program("/bin/sh", environment: ["LOG": log]).start(["-c", script])
        var random = SystemRandomNumberGenerator()
        for round in 0..<25 {
            let running = try follow("--roll-events", "700")
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...120, using: &random)))
            running.send(SIGKILL)
            _ = await running.end()
            // Another process seals what the killed one left in its journal.
            if round % 3 == 0 { _ = try await Program().run("write", "-q", "--spool", spool) }
        }
        let last = try follow()
        _ = await writer.end()
        // One before it may have stored all of that; this line tells that the last one has begun.
        try append(30001...30001)
        try await eventually("all is stored") { try stored.count >= 30001 }
        await stop(last)
        #expect(try stored == numbers(1...30001))
    }

    @Test("A line that is no event ends it, and it goes on there; --skip-invalid and --as-text pass")
    func invalid() async throws {
        try append("{\"n\":1}\nbad\n{\"n\":2}\n")
        for _ in 0..<2 {
            let result = await (try follow()).end()
            #expect(result.status == 65)
            #expect(
                result.errors.contains("the line at byte 8, column 1: not a JSON value; add --skip-invalid, or --as-text FIELD"),
                "\(result.errors)")
        }
        let running = try follow("--skip-invalid", "--invalid", folder("bad"))
        try await waits(for: 1...2)
        await stop(running)
        #expect(try String(contentsOfFile: folder("bad"), encoding: .utf8) == "bad\n")
        try append("text\n")
        let other = try follow("--as-text", "m")
        try await eventually("the text is stored") { try stored.count == 3 }
        await stop(other)
        #expect(try stored.last == "{\"m\":\"text\"}")
    }

    @Test("Two processes do not follow one log into one spool")
    func twice() async throws {
        try append(1...1)
        let first = try follow()
        try await waits(for: 1...1)
        let second = await (try follow()).end()
        #expect(second.status == 74)
        #expect(second.errors.contains("another process follows \(log) into \(spool)"), "\(second.errors)")
        await stop(first)
    }

    @Test("On a full disk it ends, and goes on behind what is stored when there is room")
    func full() async throws {
        guard folder.mount("size=300k") else { return }
        let small = folder("m/s")
        _ = try Spool.open(small, access: .create)
        try append(1...60000)
        let first = try await Program().run("write", "--spool", small, "--follow", log)
        #expect(first.status == 73, "\(first.errors)")
        #expect(try await Program("/bin/mount").run("-o", "remount,size=20m", folder("m")).status == 0)
        let second = try Program().start(["write", "--spool", small, "--follow", log, "--roll-after", "100ms"])
        try await eventually("all is stored") { try Spool.open(small, access: .read).events(in: [.pending]).count >= 60000 }
        await stop(second)
        #expect(try Spool.open(small, access: .read).events(in: [.pending]) == numbers(1...60000))
    }
}
