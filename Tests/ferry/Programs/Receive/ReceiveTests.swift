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
        _ = try await hub.running.waitFor(" at 127.0.0.1: cannot create")
        #expect(try await upload(hub).status == 0)
        _ = try await hub.running.waitFor("stores again what is received from \(source.id) at 127.0.0.1, after ")
        await hub.stop()
    }

    @Test("Machines that send into one spool are told apart by the spools that they send from: in log, status and report")
    func sharedSpool() async throws {
        let hub = try await Hub(folder("hub"))
        let sources = [try folder.spool("a"), try folder.spool("b")]
        for source in sources {
            for second in 0..<3 { try source.put(Segments.gzip("1\n"), as: Segments.name(second: second)) }
            let sent = try await Program().run("upload", "--spool", source.path, "--to", hub.url, "--coalesce", "off")
            #expect(sent.status == 0, "\(sent.errors)")
        }
        let status = try await Program().run("status", "--spool", folder("hub")).output
        let report = try await Program().run("report", "--spool", folder("hub"), "--text", "--html", folder("r.html")).output
        let page = try String(contentsOfFile: folder("r.html"), encoding: .utf8)
        await hub.stop()
        let lines = hub.running.errors.split(separator: "\n")
        for source in sources {
            let own = lines.filter { $0.hasSuffix(" from \(source.id) at 127.0.0.1") }
            #expect(own.count == 2, "\(lines)")
            #expect(own.last?.contains("received 2 segments (2 events, ") == true, "\(own)")
            #expect(status.contains("\n\(source.id)         3"), "\(status)")
            #expect(report.contains("  \(source.id)  3 segments, "), "\(report)")
            #expect(page.contains("<bdi>\(source.id)</bdi>"))
        }
    }

    @Test("As JSON each line about a request has machine and address, and what it is about")
    func jsonLog() async throws {
        let source = try folder.spool("source")
        try source.put(Segments.gzip("1\n2\n"))
        let port = LoopbackPort.own()
        let receiver = try Program().start([
            "receive", "--listen", "127.0.0.1:\(port)", "--spool", folder("hub"), "--log-format", "json",
        ])
        _ = try await receiver.waitFor("listening on")
        #expect(try await RawClient.post(Segments.gzip("no\n"), port: port).status == 400)
        let sent = try await Program().run("upload", "--spool", source.path, "--to", "http://127.0.0.1:\(port)/v1/segments")
        #expect(sent.status == 0, "\(sent.errors)")
        receiver.send(SIGTERM)
        let lines = try await receiver.end().errors.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String], "\($0)")
        }
        let refused = try #require(lines.first { $0["level"] == "warning" && $0["status"] == "400" })
        #expect(refused["machine"] == "-")
        #expect(refused["address"] == "127.0.0.1")
        #expect(refused["requests"] == "1")
        let taken = try #require(lines.first { $0["segments"] == "1" })
        #expect(taken["machine"] == source.id)
        #expect(taken["address"] == "127.0.0.1")
        #expect(taken["events"] == "2")
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
        #expect(errors.contains("refused 1 more request with 503, the last of - at 127.0.0.1: "), "\(errors)")
    }
}
