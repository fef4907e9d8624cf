import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("ferry receive, whatever happens to its folder")
struct ReceiveTests {
    private let folder = TemporaryFolder()

    private func upload(_ hub: Hub) async throws -> Program.Result {
        try await Program().run(
            "upload", "--spool", folder("source"), "--to", "\(hub.url)", "--retry-now")
    }

    @Test(
        "A folder that is made anew, or put in its place, is taken up; while there is none nothing is taken",
        arguments: [false, true])
    func anew(isMovedAway: Bool) async throws {
        let source = try folder.spool("source")
        let hub = try await Hub(folder("hub"))
        try source.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        #expect(try await upload(hub).status == 0)
        try FileManager.default.moveItem(atPath: folder("hub"), toPath: folder("old"))
        _ = try await hub.running.waitFor("the folder of the spool \(folder("hub")) is gone")
        try source.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        #expect(try await upload(hub).status == 75)
        if isMovedAway {
            #expect(try await Program().run("init", folder("hub")).status == 0)
        } else {
            try FileManager.default.moveItem(atPath: folder("old"), toPath: folder("hub"))
        }
        try await eventually("it takes what comes: \(hub.running.errors)") { try await upload(hub).status == 0 }
        await hub.stop()
        let events = try Spool.open(folder("hub"), access: .read).events(in: [.pending])
        #expect(events == (isMovedAway ? ["2"] : ["1", "2"]))
    }

    @Test("A time to remember keys for that is shorter than a day is refused, and the others are taken")
    func remember() async throws {
        for wrong in ["23h", "0d", "never"] {
            let refused = try await Program().run("receive", "--spool", folder("hub"), "--remember", wrong)
            #expect(refused.status == 64)
            #expect(refused.errors.contains("1d or more, or forever"), "\(refused.errors)")
        }
        for right in ["1d", "forever"] { await (try Hub(folder("hub"), ["--remember", right])).stop() }
    }

    @Test("It forgets days that are over the time, and says so")
    func forgets() async throws {
        let spool = try folder.spool("hub")
        let now = Timestamp.now()
        try spool.received.log([
            ReceivedEntry(at: now - .seconds(3 * 86_400), key: "a", sha256: "00", segment: "gone.jsonl.gz", bytes: 1, events: 1)
        ])
        // An earlier boot bears out that time.
        spool.settleClock(at: now - .seconds(60))
        let hub = try await Hub(folder("hub"), ["--remember", "1d"])
        _ = try await hub.running.waitFor("forgot the keys of 1 day, up to received-")
        await hub.stop()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder("hub/.ferry")).allSatisfy { !$0.hasPrefix("received-") })
    }

    @Test(
        "It says why it can store nothing, and goes on when it can", .needs("chattr"),
        .enabled(if: getuid() == 0, "only root makes a folder that takes no file"))
    func failing() async throws {
        let chattr = try #require(Program.find("chattr"))
        let source = try folder.spool("source")
        let hub = try await Hub(folder("hub"))
        try source.put(Segments.gzip("1\n"))
        guard try await Program(chattr).run("+i", folder("hub")).status == 0 else {
            return print("NOT TESTED: this file system has no immutable folders")
        }
        let refused = try await upload(hub)
        #expect(try await Program(chattr).run("-i", folder("hub")).status == 0)
        #expect(refused.status == 75)
        _ = try await hub.running.waitFor("cannot store what is received: cannot create")
        #expect(try await upload(hub).status == 0)
        await hub.stop()
    }

    @Test("Each reason for which a store takes nothing is told, also right behind another one") func reasons() async throws {
        let server = ScriptedServer.answering { [puts = Mutex(0)] request in
            let number = puts.withLock { puts in
                if request.line.hasPrefix("PUT") { puts += 1 }
                return puts
            }
            let (status, code) = number > 2 ? (404, "NoSuchBucket") : (503, "SlowDown")
            return ScriptedServer.answer(status, "", body: "<Error><Code>\(code)</Code><Message>no</Message></Error>")
        }
        let port = LoopbackPort.own()
        let receiver = try Program(environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"]).start([
            "receive", "--listen", "127.0.0.1:\(port)", "--store", "s3://logs/edge?endpoint=http://127.0.0.1:\(server.port)",
        ])
        _ = try await receiver.waitFor("listening on")
        for second in 0..<4 {
            let body = Segments.gzip(Segments.lines(second..<second + 1))
            #expect(try await RawClient.post(body, port: port).status == 503)
        }
        _ = try await receiver.waitFor("with 503: s3://logs/edge")
        receiver.send(SIGTERM)
        let errors = await receiver.end().errors
        #expect(errors.contains("SlowDown"), "\(errors)")
        #expect(errors.contains("NoSuchBucket"), "\(errors)")
        #expect(errors.contains("refused 1 more request of 127.0.0.1"), "\(errors)")
    }
}
