import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Kill -9 at random moments", .serialized)
struct CrashTests {
    private let folder = TemporaryFolder()

    @Test("A writer that is killed loses no whole line that is in its journal, and none comes twice")
    func writer() async throws {
        let spool = folder("spool")
        let pipe = folder("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        var generator = Seeded(seed: UInt64(getpid()))
        var next = 0
        var sure = 0
        for _ in 0..<12 {
            let writer = try Program().start(["write", "--spool", spool, "--roll-events", "50", pipe])
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
            _ = try await Program().run("status", "--spool", spool)
            let stored = try opened.events(in: [.pending])
            #expect(stored.count >= sure)
            #expect(Set(stored).count == stored.count)
        }
        // In each run what is stored is a prefix of what was written: no line is missing between two that are there.
        let numbers = try Spool.open(spool, access: .read).events(in: [.pending]).map { Int($0.dropFirst(5).dropLast())! }
        #expect(numbers == numbers.sorted())
        #expect(try Spool.open(spool, access: .read).scan().openJournals == 0)
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
        #expect(try source.rejected().isEmpty)
    }
}
