import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Programs that only look change nothing")
struct LookingTests {
    private let folder = TemporaryFolder()

    /// A spool with everything that a program which writes or sends would tidy up.
    private func untidySpool() throws -> Spool {
        let spool = try folder.spool()
        let name = try spool.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        for (file, text) in [
            ("\(name).retry.json", "{nonsense"), ("gone.jsonl.gz.retry.json", "{}"),
            (Segments.name(second: 2).journalName, "2\n"),
            (".\(SegmentID.random()).ferry-in", "x"), (".x.ferry-tmp", "x"), ("events.json", "{}"),
        ] {
            try spool.directory.replace(file, with: Array(text.utf8), durable: false)
        }
        let sent = try spool.directory.makeDirectory("sent").makeDirectory("2026-11-01")
        try sent.replace(Segments.name(second: 3).fileName, with: Segments.gzip("3\n"), durable: false)
        let rejected = try spool.directory.makeDirectory("rejected")
        try rejected.replace(Segments.name(second: 4).fileName, with: Segments.gzip("4\n"), durable: false)
        return spool
    }

    private static let commands = [
        ["status"], ["status", "--json"], ["list"], ["cat", "--all"], ["verify", "--all"],
        ["upload", "--dry-run", "--to", "http://127.0.0.1:9/"],
        [
            "upload", "--dry-run", "--to", "http://127.0.0.1:9/", "--max-spool-age", "1h", "--max-spool-bytes", "1B", "--due",
            "04:00",
            "--late", "drop",
        ],
    ]

    @Test("Not a name, a byte, a time or a mode", arguments: commands)
    func nothingChanges(_ command: [String]) async throws {
        let spool = try untidySpool()
        func everything() async throws -> String {
            try await Program("/usr/bin/find").run(spool.path, "-printf", "%p %i %m %s %T@ %C@\n").output
                .split(separator: "\n").sorted().joined(separator: "\n")
        }
        let before = try await everything()
        let result = try await Program().start(command + ["--spool", spool.path]).end()
        // A rejected segment waits for a person.
        #expect(result.status == (command[0] == "status" ? 1 : 0), "\(result.errors)")
        #expect(try await everything() == before)
    }

    @Test("cat prints what is sent while it prints, and names what has gone")
    func catWhileSent() async throws {
        let spool = try folder.spool()
        // More than a pipe holds: the others are opened when the reader goes on.
        try spool.put(Segments.gzip(Segments.lines(0..<100_000)), as: Segments.name(second: 1))
        let moved = try spool.put(Segments.gzip("{\"moved\":1}\n"), as: Segments.name(second: 2))
        let gone = try spool.put(Segments.gzip("{\"gone\":1}\n"), as: Segments.name(second: 3))
        try spool.put(Segments.gzip("{\"last\":1}\n"), as: Segments.name(second: 4))
        let script = """
            { "$FERRY" cat --all --spool "$SPOOL"; echo "status $?" >&2; } | {
              head -c 1 >/dev/null; mkdir -p "$SPOOL/sent/2026-11-21"; mv "$SPOOL/$MOVED" "$SPOOL/sent/2026-11-21/"; rm "$SPOOL/$GONE"
              tail -n 2
            }
            """
        let shell = Program(
            "/bin/sh", environment: ["FERRY": Program.ferry, "SPOOL": spool.path, "MOVED": moved, "GONE": gone])
        let result = try await shell.run("-c", script)
        #expect(result.output == "{\"moved\":1}\n{\"last\":1}\n")
        #expect(result.errors.contains(gone))
        #expect(result.errors.contains("status 74"))
    }

    @Test("list and upload say the same of what is not whole yet: it may be still being written, and is given up later")
    func notWhole() async throws {
        let spool = try folder.spool()
        let whole = Segments.gzip(Segments.lines(0..<99))
        try spool.directory.replace("padded.json.gz", with: whole + [UInt8](repeating: 0, count: 512), durable: false)
        let cut = Segments.name().fileName
        try spool.directory.replace(cut, with: [0x1f, 0x8b], durable: false)
        let hub = try await Hub(folder("hub"))
        // Past the moments in which anything may be being written.
        let upload = try await Program().run("upload", "--spool", spool.path, "--to", hub.url)
        await hub.stop()
        let list = try await Program().run("list", "--spool", spool.path)
        #expect(upload.status == 75, "\(upload.errors)")
        #expect(upload.output.contains("held back 2 files"), "\(upload.output)")
        let states = list.output.split(separator: "\n").map { $0.contains("no whole gzip file") }
        #expect(states == [true, true], "\(list.output)")
    }

    @Test("No lock is taken, and no file is opened for writing", .needs("strace"), arguments: commands)
    func noLock(_ command: [String]) async throws {
        let strace = try #require(Program.find("strace"))
        let spool = try untidySpool()
        let calls = "trace=flock,openat,mkdirat,renameat,renameat2,unlinkat,linkat,fchmod,fchmodat,ftruncate"
        let result = try await Program(strace)
            .start(["-f", "-qq", "-o", folder("calls"), "-e", calls, Program.ferry] + command + ["--spool", spool.path]).end()
        let lines = try String(contentsOfFile: folder("calls"), encoding: .utf8).split(separator: "\n")
        guard lines.contains(where: { $0.contains("openat(") }) else { return print("NOT TESTED: strace: \(result.errors)") }
        let changing = lines.filter { line in
            guard line.contains("openat(") else {
                return !line.contains("+++") && !line.contains("---") && !line.contains("resumed")
            }
            return ["O_WRONLY", "O_RDWR", "O_CREAT"].contains { line.contains($0) } && !line.contains("\"/dev/")
        }
        #expect(changing.isEmpty, "\(changing)")
    }

    @Test("Status tells what dead processes left, and what is no segment")
    func status() async throws {
        let spool = try untidySpool()
        let status = try await Program().run("status", "--spool", spool.path)
        #expect(status.output.contains("left      2 files of writers or receivers that died"))
        #expect(status.output.contains("ignored   1 file that is no segment: events.json"))
    }
}
