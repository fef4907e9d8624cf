import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry write --follow takes each line of a log once")
struct FollowTests {
    private let logs: FollowedFolder

    init() throws { logs = try FollowedFolder() }

    @Test("Lines are published as they come, a last one without its end waits, and another call goes on")
    func going() async throws {
        try logs.append(1...3)
        let first = try logs.follow()
        try await logs.waits(for: 1...3)
        try logs.append("{\"n\":4")
        await logs.stop(first)
        #expect(try logs.stored == logs.numbers(1...3))
        try logs.append("}\n{\"n\":5}\n")
        let again = try logs.follow()
        try await logs.waits(for: 1...5)
        await logs.stop(again)
    }

    @Test("A log that is renamed is read to its end, and then the new one; also several times while nothing follows")
    func renamed() async throws {
        try logs.append(1...2)
        let first = try logs.follow()
        try await logs.waits(for: 1...2)
        let writer = try #require(FileHandle(forWritingAtPath: logs.log))
        try writer.seekToEnd()
        logs.move("app.log", "app.log.1")
        try writer.write(contentsOf: Data("{\"n\":3}\n".utf8))
        try await logs.waits(for: 1...3)
        try logs.append(4...5)
        try await logs.waits(for: 1...5)
        // Late, when the next one is read already.
        try writer.write(contentsOf: Data("{\"n\":6}\n".utf8))
        try writer.close()
        try await logs.waits(for: 1...6)
        await logs.stop(first)
        try logs.append(7...7)
        logs.move("app.log.1", "app.log.3")
        logs.move("app.log", "app.log.2")
        try logs.append(8...9, to: "app.log.1")
        try logs.append(10...10)
        let second = try logs.follow()
        try await logs.waits(for: 1...10)
        await logs.stop(second)
    }

    @Test("A log that is copied and emptied goes on in the copy, and then from its start", arguments: [false, true])
    func copied(isRunning: Bool) async throws {
        try logs.append(1...3)
        let first = try logs.follow()
        try await logs.waits(for: 1...3)
        if !isRunning { await logs.stop(first) } else { first.send(SIGSTOP) }
        try logs.append(4...5)
        try logs.copyAway(to: "app.log.2")
        try logs.append(6...7)
        try logs.copyAway(to: "app.log.1")
        // More than before: its length shows nothing.
        try logs.append(8...20)
        let second = isRunning ? first : try logs.follow()
        second.send(SIGCONT)
        try await logs.waits(for: 1...20)
        await logs.stop(second)
    }

    @Test("A line that a copy cuts in two is one; where its end is lost, the next line is another", arguments: [false, true])
    func cutLine(isRunning: Bool) async throws {
        try logs.append("{\"n\":1}\n{\"n\":")
        let first = try logs.follow()
        try await logs.waits(for: 1...1)
        if !isRunning { await logs.stop(first) }
        try logs.copyAway(to: "app.log.1")
        try logs.append("2}\n{\"n\":3}\n{\"half")
        let second = isRunning ? first : try logs.follow("--skip-invalid")
        try await logs.waits(for: 1...3)
        logs.move("app.log.1", "app.log.2")
        try logs.copyAway(to: "app.log.1")
        try logs.append(4...4)
        if isRunning {
            #expect(await second.end().errors.contains("app.log, the line at byte 0, column"))
            #expect(try logs.stored == logs.numbers(1...3))
        } else {
            try await logs.waits(for: 1...4)
            await logs.stop(second, saying: "skipped")
        }
    }

    @Test("Halves of a line of text are one line")
    func cutText() async throws {
        try logs.append("first\nhalf ")
        let running = try logs.follow("--as-text", "m")
        try await eventually("the first is stored") { try logs.stored.count == 1 }
        try logs.copyAway(to: "app.log.1")
        try logs.append("line\n")
        try await eventually("the line is stored") { try logs.stored.count == 2 }
        #expect(try logs.stored.last == "{\"m\":\"half line\"}")
        await logs.stop(running)
    }

    @Test(
        "logrotate's ways are followed", .needs("logrotate"),
        arguments: [
            "create", "copytruncate", "create\n dateext\n dateformat -%Y%m%d-%s", "create\n compress",
            "copytruncate\n compress\n delaycompress",
            "create\n compress\n delaycompress\n dateext\n extension .log\n dateformat -%Y%m%d-%s",
        ])
    func rotated(way: String) async throws {
        try logs.append(1...1)
        let running = try logs.follow()
        try await logs.waits(for: 1...1)
        // Which is in the names. `time`, which logrotate asks, is some milliseconds late.
        var second = 0.0
        func rotate() async throws {
            try await eventually("another second") { Date().timeIntervalSince1970 > second + 1.1 }
            try await logs.rotate(way)
            second = Date().timeIntervalSince1970.rounded(.down)
        }
        for round in 0..<3 {
            let first = round * 10 + 2
            try logs.append(first...(first + 4))
            // Also what came while it did not look.
            if round > 0 { running.send(SIGSTOP) }
            try logs.append((first + 5)...(first + 7))
            try await rotate()
            try logs.append((first + 8)...(first + 9))
            if round == 1 { try await rotate() }
            running.send(SIGCONT)
            try await logs.waits(for: 1...(first + 9))
        }
        await logs.stop(running)
    }

    @Test(
        "What is beside the log when it is followed for the first time is left alone, also when it is renamed or compressed later"
    )
    func before() async throws {
        try logs.append(80...89, to: "app.log.1")
        try logs.append(70...79, to: "app.log.2")
        try await logs.compress("app.log.2")
        try logs.append(1...2)
        let first = try logs.follow()
        try await logs.waits(for: 1...2)
        await logs.stop(first)
        logs.move("app.log.2.gz", "app.log.3.gz")
        logs.move("app.log.1", "app.log.2")
        try await logs.compress("app.log.2")
        logs.move("app.log", "app.log.1")
        try logs.append(3...3)
        let second = try logs.follow()
        try await logs.waits(for: 1...3)
        await logs.stop(second)
    }

    @Test("What was read last and is gone is told, and what came since is read")
    func gone() async throws {
        try logs.append(1...2)
        let first = try logs.follow()
        try await logs.waits(for: 1...2)
        await logs.stop(first)
        try FileManager.default.removeItem(atPath: logs.log)
        try logs.append(3...4)
        let second = try logs.follow()
        try await logs.waits(for: 1...4)
        await logs.stop(second, saying: "what it held behind byte 16 is not stored")
    }

    @Test("A line that is no event ends it, and it goes on there; --skip-invalid and --as-text pass")
    func invalid() async throws {
        try logs.append("{\"n\":1}\nbad\n{\"n\":2}\n")
        for _ in 0..<2 {
            let result = await (try logs.follow()).end()
            #expect(result.status == 65)
            #expect(
                result.errors.contains("the line at byte 8, column 1: not a JSON value; add --skip-invalid, or --as-text FIELD"),
                "\(result.errors)")
        }
        let running = try logs.follow("--skip-invalid", "--invalid", logs.folder("bad"))
        try await logs.waits(for: 1...2)
        try logs.append("\"\(String(repeating: "x", count: 1_200_000))\"\n{\"n\":3}\n")
        try await logs.waits(for: 1...3)
        await logs.stop(running, saying: "longer than 1 MiB; skipped")
        #expect(try String(contentsOfFile: logs.folder("bad"), encoding: .utf8).hasPrefix("bad\n\"xx"))
        try logs.append("text\n")
        let other = try logs.follow("--as-text", "m")
        try await eventually("the text is stored") { try logs.stored.count == 4 }
        await logs.stop(other)
        #expect(try logs.stored.last == "{\"m\":\"text\"}")
    }

    @Test("Two processes do not follow one log into one spool, however its path is written")
    func twice() async throws {
        try logs.append(1...1)
        let first = try logs.follow()
        try await logs.waits(for: 1...1)
        let path = logs.log.replacing("/app.log", with: "//./app.log")
        let second = try await Program().run("write", "--spool", logs.spool, "--follow", path)
        #expect(second.status == 74)
        #expect(second.errors.contains("another process follows \(logs.log) into \(logs.spool)"), "\(second.errors)")
        await logs.stop(first)
    }

    @Test("A note that cannot be understood is told, and nothing is stored twice")
    func unreadableNote() async throws {
        try logs.append(1...1)
        let first = try logs.follow()
        try await logs.waits(for: 1...1)
        await logs.stop(first)
        let notes = logs.folder("s/.ferry/follow")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: notes).first { !$0.contains(".") })
        try "".write(toFile: "\(notes)/\(name)", atomically: true, encoding: .utf8)
        let second = await (try logs.follow()).end()
        #expect(second.status == 74)
        #expect(
            second.errors.contains("cannot be understood: remove it, and all of the log is stored once more"), "\(second.errors)")
        #expect(try logs.stored == logs.numbers(1...1))
    }

    @Test("On a full disk it ends, and goes on behind what is stored when there is room")
    func full() async throws {
        guard logs.folder.mount("size=300k") else { return }
        let small = logs.folder("m/s")
        _ = try Spool.open(small, access: .create)
        try logs.append(1...60000)
        let first = try await Program().run("write", "--spool", small, "--follow", logs.log)
        #expect(first.status == 73, "\(first.errors)")
        #expect(try await Program("/bin/mount").run("-o", "remount,size=20m", logs.folder("m")).status == 0)
        let second = try Program().start(["write", "--spool", small, "--follow", logs.log, "--roll-after", "100ms"])
        try await eventually("all is stored") { try Spool.open(small, access: .read).events(in: [.pending]).count >= 60000 }
        await logs.stop(second)
        #expect(try Spool.open(small, access: .read).events(in: [.pending]) == logs.numbers(1...60000))
    }
}
