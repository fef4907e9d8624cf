import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry write --follow knows the file again that it read")
struct FollowedFileTests {
    private let logs: FollowedFolder

    init() throws { logs = try FollowedFolder() }

    @Test("A log that a copy of itself replaces goes on where it was, also in a line", arguments: [false, true])
    func replaced(isRunning: Bool) async throws {
        try logs.append(1...3)
        let first = try logs.follow()
        try await logs.waits(for: 1...3)
        if !isRunning { await logs.stop(first) }
        try FileManager.default.copyItem(atPath: logs.log, toPath: logs.folder("x"))
        logs.move("x", "app.log")
        try logs.append(4...5)
        let second = isRunning ? first : try logs.follow()
        try await logs.waits(for: 1...5)
        await logs.stop(second)
    }

    @Test("A new log with the header of the one before, and longer, is no copy of it")
    func header() async throws {
        let header = "{\"header\":\"\(String(repeating: "x", count: 1100))\"}\n"
        try logs.append(header)
        try logs.append(1...2)
        let first = try logs.follow()
        try await eventually("it is stored") { try logs.stored.count == 3 }
        await logs.stop(first)
        try FileManager.default.removeItem(atPath: logs.log)
        try logs.append(header)
        try logs.append(3...6)
        let second = try logs.follow()
        try await eventually("all of the new one is stored") { try logs.stored.count >= 8 }
        #expect(try logs.stored.dropFirst(4) == logs.numbers(3...6)[...])
        await logs.stop(second, saying: "is not stored")
    }

    @Test("A rotated file whose time is later than the note is not read again while the new log is empty")
    func laterTime() async throws {
        try logs.append(1...3)
        let first = try logs.follow()
        try await logs.waits(for: 1...3)
        await logs.stop(first)
        try FileManager.default.setAttributes([.modificationDate: Date() + 3600], ofItemAtPath: logs.log)
        logs.move("app.log", "app.log.1")
        try logs.append("")
        for _ in 0..<2 {
            let before = try FileStatus(of: logs.folder("s/.ferry/follow")).changed
            let running = try logs.follow()
            try await eventually("it has begun") { try FileStatus(of: logs.folder("s/.ferry/follow")).changed != before }
            await logs.stop(running)
            #expect(try logs.stored == logs.numbers(1...3))
        }
    }

    @Test("What an empty log gets before it is emptied again is found in its copy", arguments: [false, true])
    func emptied(isRunning: Bool) async throws {
        try logs.append("")
        let first = try logs.follow()
        try await logs.isFollowed()
        if !isRunning { await logs.stop(first) } else { first.send(SIGSTOP) }
        try logs.append(1...2)
        try logs.copyAway(to: "app.log.2")
        try logs.append(3...4)
        try logs.copyAway(to: "app.log.1")
        let second = isRunning ? first : try logs.follow()
        second.send(SIGCONT)
        try await logs.waits(for: 1...4)
        await logs.stop(second)
    }

    @Test("Dates after numbers, and logs of other workers, bring no line twice")
    func neighbours() async throws {
        try logs.append(1...1)
        try logs.append(91...92, to: "app-1.log")
        let running = try logs.follow()
        try await logs.waits(for: 1...1)
        for (index, name) in ["app.log.1", "app.log-20261127", "app.log-20261128"].enumerated() {
            logs.move("app.log", name)
            try logs.append((index + 2)...(index + 2))
            try logs.append(93...93, to: "app-1.log")
            try await logs.waits(for: 1...(index + 2))
        }
        await logs.stop(running)
    }

    @Test("Files that came with numbers and with dates are all stored, and their order is said to be unknown")
    func mixed() async throws {
        try logs.append(1...1)
        let first = try logs.follow()
        try await logs.waits(for: 1...1)
        await logs.stop(first)
        logs.move("app.log", "app.log.2")
        try logs.append(2...2, to: "app.log.1")
        try logs.append(3...3, to: "app.log-20261127")
        try logs.append(4...4)
        let second = try logs.follow()
        try await logs.waits(for: 1...4)
        await logs.stop(second, saying: "app.log.1 and others came with numbers and with dates in their names: both are stored")
    }

    @Test("What came while its own file was compressed, or removed, is read", arguments: ["gzip", "zstd", "rm"])
    func ownFileGone(program: String) async throws {
        guard Program.find(program) != nil else { return }
        try logs.append(1...40)
        let running = try logs.follow()
        try await logs.waits(for: 1...40)
        running.send(SIGSTOP)
        try logs.append(41...41)
        logs.move("app.log", "app.log.2")
        if program == "rm" {
            #expect(unlink(logs.folder("app.log.2")) == 0)
        } else {
            try await logs.compress("app.log.2", with: program)
        }
        try logs.append(42...42, to: "app.log.1")
        try logs.append(43...43)
        running.send(SIGCONT)
        try await logs.waits(for: 1...43)
        await logs.stop(running)
    }

    @Test("A compressed file is gone on with where its lines are not stored yet", arguments: ["gzip", "zstd"])
    func compressed(program: String) async throws {
        guard Program.find(program) != nil else { return }
        try logs.append(1...3000)
        let first = try logs.follow()
        try await logs.waits(for: 1...3000)
        await logs.stop(first)
        try logs.append(3001...4000)
        logs.move("app.log", "app.log.2")
        try await logs.compress("app.log.2", with: program)
        try logs.append(4001...4001, to: "app.log.1")
        try await logs.compress("app.log.1", with: program)
        for last in 4002...4003 {
            try logs.append(last...last)
            let running = try logs.follow()
            try await logs.waits(for: 1...last)
            await logs.stop(running)
        }
    }

    @Test("A damaged file is told, and passed over")
    func damaged() async throws {
        try logs.append(1...1)
        let first = try logs.follow()
        try await logs.waits(for: 1...1)
        await logs.stop(first)
        try Data([0x1f, 0x8b, 8, 0, 1, 2, 3]).write(to: URL(fileURLWithPath: logs.folder("app.log.1.gz")))
        try logs.append(2...2)
        let second = try logs.follow()
        try await logs.waits(for: 1...2)
        await logs.stop(second, saying: "app.log.1.gz: ")
    }

    @Test("Without hard links, too, the next call goes on behind what was stored before an error")
    func withoutLinks() async throws {
        try FileManager.default.createDirectory(atPath: logs.folder("s/.ferry/follow"), withIntermediateDirectories: true)
        // No link leads from one file system into another.
        guard logs.folder.mount("size=1m", at: "s/.ferry/follow") else { return }
        try logs.append("\(logs.numbers(1...5).joined(separator: "\n"))\nbad\n{\"n\":6}\n")
        for _ in 0..<3 {
            let result = await (try logs.follow()).end()
            #expect(result.status == 65, "\(result.errors)")
            #expect(try logs.stored == logs.numbers(1...5))
        }
        let running = try logs.follow("--skip-invalid")
        try await logs.waits(for: 1...6)
        await logs.stop(running, saying: "skipped")
    }

    @Test("An old rotated file that may not be read, and is not needed, ends nothing; late lines need no owner")
    func unreadable() async throws {
        // Root may read everything, so another user has to try.
        guard getuid() == 0, Program.find("setpriv") != nil else {
            print("NOT TESTED: another user cannot be had here")
            return
        }
        chmod(logs.folder.path, 0o755)
        try logs.append(90...90, to: "app.log-20260101")
        chmod(logs.folder("app.log-20260101"), 0o600)
        #expect(try await Program("/bin/chown").run("-R", "65534:65534", logs.spool).status == 0)
        let asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Program.ferry]
        try logs.append(1...2)
        let first = try Program("/usr/bin/env").start(asNobody + logs.arguments)
        try await logs.waits(for: 1...2)
        let writer = try #require(FileHandle(forWritingAtPath: logs.log))
        try writer.seekToEnd()
        logs.move("app.log", "app.log-20260102")
        try logs.append(3...3)
        try await logs.waits(for: 1...3)
        try writer.write(contentsOf: Data("{\"n\":4}\n".utf8))
        try writer.close()
        try await logs.waits(for: 1...4)
        await logs.stop(first)
        logs.move("app.log", "app.log-20260103")
        try logs.append(5...5)
        let second = try Program("/usr/bin/env").start(asNobody + logs.arguments)
        try await logs.waits(for: 1...5)
        await logs.stop(second)
    }
}
