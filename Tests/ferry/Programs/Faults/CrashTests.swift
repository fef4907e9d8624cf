import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Kill -9 at random moments", .serialized)
struct CrashTests {
    private let folder = TemporaryFolder()

    @Test("A large folder that no watch is left for is sent, and no descriptor is closed twice", .needs("strace"))
    func noWatch() async throws {
        let hub = try await Hub(folder("hub"))
        let spool = try Spool.open(folder("spool"), access: .create)
        let content = Segments.gzip("{}\n")
        for second in 0..<2000 { _ = try spool.put(content, as: Segments.name(second: second)) }
        guard try FileStatus(of: spool.path).size >= .kibibytes(96) else {
            return print("NOT TESTED: folders are small here, whatever is in them")
        }
        let result = try await Program(
            "/bin/sh", environment: ["FERRY": Program.ferry, "SPOOL": spool.path, "LOG": folder("log")]
        ).run(
            "-c",
            """
            strace -f -qq -o "$LOG" -e trace=close,inotify_add_watch -e inject=inotify_add_watch:error=ENOSPC \
                "$FERRY" upload -q --spool "$SPOOL" --to \(hub.url); echo "status $?" >>"$LOG"; cat "$LOG"
            """)
        #expect(result.output.hasSuffix("status 0\n"))
        #expect(result.output.contains("ENOSPC"))
        #expect(!result.output.contains("EBADF"))
        #expect(try spool.pending().isEmpty)
        await hub.stop()
    }

    @Test(
        "Killed anywhere while it salvages a segment, it does not have the events sent twice, also if they were sent in between",
        .needs("strace"))
    func salvage() async throws {
        let whole = Segments.gzip(Segments.lines(0..<2000))
        let hub = try await Hub(folder("hub"))
        var kills = 0
        for call in ["write", "fdatasync", "fsync", "renameat2", "renameat"] {
            for count in 1...3 {
                let path = folder("\(call)\(count)")
                let spool = try Spool.open(path, access: .create)
                let rejected = try spool.directory.makeDirectory("rejected")
                try rejected.replace(Segments.name().fileName, with: Array(whole.dropLast(12)), durable: false)
                let result = try await Program(
                    "/bin/sh", environment: ["FERRY": Program.ferry, "SPOOL": path]
                ).run(
                    "-c",
                    """
                    strace -f -qq -o /dev/null -e inject=\(call):signal=SIGKILL:when=\(count) "$FERRY" retry -q --all --salvage --spool "$SPOOL"
                    echo $?
                    "$FERRY" upload -q --spool "$SPOOL" --delete-sent --to \(hub.url); echo $?
                    "$FERRY" retry -q --all --salvage --spool "$SPOOL"; echo $?
                    "$FERRY" upload -q --spool "$SPOOL" --delete-sent --to \(hub.url); echo $?
                    """)
                if !result.output.hasPrefix("0") { kills += 1 }
                #expect(result.output.hasSuffix("\n0\n0\n0\n"), "\(call) \(count): \(result.output) \(result.errors)")
                #expect(try spool.ledger.totals()[.sent].segments == 1, "\(call) \(count)")
            }
        }
        await hub.stop()
        #expect(kills > 3)
    }

    @Test("A writer that is killed loses no whole line that is in its journal, and none comes twice")
    func writer() async throws {
        let spool = folder("spool")
        let pipe = folder("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        var generator = Seeded(seed: UInt64(getpid()))
        var next = 0
        var sure = 0
        for _ in 0..<12 {
            let writer = try Program().start(["write", "--create", "--spool", spool, "--roll-events", "50", pipe])
            let end = try #require(FileHandle(forUpdatingAtPath: pipe))
            for _ in 0..<Int.random(in: 5...40, using: &generator) {
                let lines = (next..<next + 20).map { "{\"n\":\($0)}\n" }.joined()
                try end.write(contentsOf: Data(lines.utf8))
                next += 20
            }
            // What the writer has taken from the pipe before the last wait is read; the rest may be anywhere.
            let opened = try Spool.open(spool, access: .create)
            let deadline = ContinuousClock.now + .seconds(10)
            while try opened.scan().entries.isEmpty, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(1))
            }
            sure = try opened.events(in: [.pending]).count
            writer.send(SIGKILL)
            _ = await writer.end()
            try end.close()
            // The next round's numbers go on behind what was lost with the pipe.
            _ = try await Program().run("write", "--create", "--spool", spool)
            let stored = try opened.events(in: [.pending])
            #expect(stored.count >= sure)
            #expect(Set(stored).count == stored.count)
        }
        // In each run what is stored is a prefix of what was written: no line is missing between two that are there.
        let numbers = try Spool.open(spool, access: .read).events(in: [.pending]).map { Int($0.dropFirst(5).dropLast())! }
        #expect(numbers == numbers.sorted())
        // One that was killed before its first line may be younger than the minute that it is left alone for.
        let journals = try Spool.open(spool, access: .read).directory.names().filter { $0.hasSuffix(".open") }
        #expect(
            try journals.allSatisfy { try FileManager.default.attributesOfItem(atPath: "\(spool)/\($0)")[.size] as? Int == 0 })
    }

    @Test("Uploader and receiver killed again and again: everything arrives, nothing twice")
    func uploaderAndReceiver() async throws {
        let source = try folder.spool()
        let total = 400
        for number in 0..<total {
            try source.put(
                Segments.gzip(Segments.lines(number * 5..<number * 5 + 5)), as: Segments.name(number % 3, second: number))
        }
        var generator = Seeded(seed: UInt64(getpid()) &+ 1)
        let hubPath = folder("hub")
        var hub = try await Hub(hubPath)
        let port = hub.port
        var rounds = 0
        while try !source.pending().isEmpty, rounds < 200 {
            rounds += 1
            let upload = try Program().start([
                "upload", "--spool", source.path, "--to", hub.url, "--retry-now", "--quiet", "--limit", "80",
            ])
            try await Task.sleep(for: .milliseconds(Int.random(in: 20...120, using: &generator)))
            switch rounds % 3 {
            case 0:
                hub.running.send(SIGKILL)
                _ = await hub.running.end()
                _ = await upload.end()
                hub = try await Hub(hubPath, port: port)
            case 1:
                upload.send(SIGKILL)
                _ = await upload.end()
            default: _ = await upload.end()
            }
        }
        await hub.stop()
        _ = try await Program().run("status", "--spool", hubPath)
        let received = try Spool.open(hubPath, access: .read).events(in: [.pending])
        #expect(rounds < 200)
        #expect(received.count == total * 5)
        #expect(Set(received) == Set((0..<total * 5).map { "{\"n\":\($0)}" }))
        #expect(try source.rejected.segments().isEmpty)
    }

    @Test(
        "ferry run and its hub killed again and again, while segments appear and leave joined: everything arrives, nothing twice")
    func longRunning() async throws {
        let spools = try ["a", "b"].map { try folder.spool("spools/\($0)") }
        var generator = Seeded(seed: UInt64(getpid()) &+ 2)
        let hubPath = folder("hub")
        var hub = try await Hub(hubPath)
        let port = hub.port
        let arguments = [
            "run", "--spool", folder("spools/*"), "--to", hub.url, "--quiet", "--set", "coalesce=64KiB", "--set",
            "back-off.intervals=50ms",
        ]
        var run = try Program().start(arguments)
        var total = 0
        for round in 0..<20 {
            for _ in 0..<Int.random(in: 5...40, using: &generator) {
                let spool = spools[total % 2]
                try spool.put(Segments.gzip("{\"n\":\(total)}\n"), as: Segments.name([0, 5, 9][total % 3], second: total))
                total += 1
            }
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...200, using: &generator)))
            if round.isMultiple(of: 3) {
                hub.running.send(SIGKILL)
                _ = await hub.running.end()
                hub = try await Hub(hubPath, port: port)
            } else {
                run.send(SIGKILL)
                _ = await run.end()
                run = try Program().start(arguments)
            }
        }
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end, try !spools.allSatisfy({ try $0.pending().isEmpty }) {
            try await Task.sleep(for: .milliseconds(20))
        }
        // The last one may have just begun, and not be listening to signals yet.
        while ContinuousClock.now < end, try spools[1].uploaderMark.read()?.isRunning != true {
            try await Task.sleep(for: .milliseconds(20))
        }
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        await hub.stop()
        _ = try await Program().run("status", "--spool", hubPath)
        let received = try Spool.open(hubPath, access: .read).events(in: [.pending])
        #expect(received.count == total)
        #expect(Set(received) == Set((0..<total).map { "{\"n\":\($0)}" }))
        for spool in spools {
            #expect(try spool.pending().isEmpty)
            #expect(try spool.rejected.segments().isEmpty)
        }
    }

    @Test("Export and import killed at any moment: bundles that came through in parts give everything, once")
    func transfer() async throws {
        let spool = try folder.spool()
        let total = 60
        for number in 0..<total {
            try spool.put(
                Segments.gzip("{\"n\":\(number)}\n" + String(repeating: "{}\n", count: 5000)), as: Segments.name(second: number))
        }
        try FileManager.default.createDirectory(atPath: folder("stick"), withIntermediateDirectories: true)
        var generator = Seeded(seed: UInt64(getpid()) &+ 3)
        var rounds = 0
        while try !spool.pending().isEmpty, rounds < 40 {
            rounds += 1
            for command in [
                ["export", folder("stick"), "--spool", spool.path], ["import", folder("stick"), "--spool", folder("hub")],
            ] {
                let running = try Program().start(command)
                // The last rounds come to their end.
                if rounds < 10 {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 5...60, using: &generator)))
                    running.send(SIGKILL)
                }
                _ = await running.end()
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder("stick"))
            where name.hasPrefix("ferry-receipt-") {
                _ = try await Program().run("acknowledge", folder("stick/\(name)"), "--spool", spool.path)
            }
            // Bundles that were never finished, as sticks that were lost.
            for mark in try spool.exports.marks() {
                _ = try await Program().run("export", "--forget", mark.bundle, "--spool", spool.path)
            }
        }
        #expect(rounds < 40)
        _ = try await Program().run("status", "--spool", folder("hub"))
        let hub = try Spool.open(folder("hub"), access: .read)
        #expect(try hub.pending().count == total)
        let numbers = try hub.events(in: [.pending]).filter { $0 != "{}" }
        #expect(numbers.count == total)
        #expect(Set(numbers).count == total)
        #expect(try spool.files(in: [.sent]).count == total)
    }
}
