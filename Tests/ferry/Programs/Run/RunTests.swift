import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry run, as a service manager runs it")
struct RunTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()

    private func config(_ text: String) throws -> String {
        try text.write(toFile: folder("ferry.yaml"), atomically: true, encoding: .utf8)
        return folder("ferry.yaml")
    }

    private func write(_ spool: String, _ events: String...) async throws {
        let written = try await ferry.run("write", "--create", "--spool", folder(spool), input: events.joined(separator: "\n"))
        #expect(written.status == 0, "\(written.errors)")
    }

    private func events(_ spool: String) throws -> [String] {
        try Spool.open(folder(spool), access: .read).events(in: [.pending])
    }

    @Test("Every mistake is told in one pass, with its line, and nothing is started")
    func mistakes() async throws {
        let file = try config(
            """
            profil: sensors
            spools:
              - \(folder("nowhere"))
              - .
              - ./
            to: htp://hub
            interval: soon
            token-file: \(folder("no-token"))
            due:
              tme: "04:00"
              timezone: Mars/Base
            threshold:
              events: [1, 2]
            max-spool-bytes: 10 stones
            headers:
              - "Authorization: secret"
            """)
        for command in [["config", "check"], ["run"]] {
            let result = try await Program(environment: ["FERRY_INTERVALL": "3"]).start(command + ["--config", file]).end()
            #expect(result.status == 78)
            #expect(result.output.isEmpty)
            let lines = result.errors.split(separator: "\n")
            // Another program's, perhaps.
            #expect(lines.contains { $0.hasPrefix("ferry: warning: $FERRY_INTERVALL: is no setting, and ignored; did you mean") })
            for (place, text) in [
                (":1:", "'profil' is no setting; did you mean 'profile'?"), (":3:", "nowhere"), (":5:", "are one folder"),
                (":6:", "no scheme"), (":7:", "interval 'soon'"), (":8:", "no-token"), (":10:", "did you mean 'due.time'?"),
                (":11:", "no known time zone"), (":13:", "one value"), (":14:", "max-spool-bytes '10 stones'"),
                (":16:", "secret"), ("$FERRY_INTERVALL", "did you mean FERRY_INTERVAL?"),
            ] {
                // ferry run waits for a folder that is not there.
                let isTold = text != "nowhere" || command != ["run"]
                #expect(
                    lines.contains { $0.contains(place) && $0.contains(text) } == isTold, "\(place) \(text)\n\(result.errors)")
            }
            #expect(lines.count == (command == ["run"] ? 11 : 14), "\(result.errors)")
        }
        let broken = try await ferry.run("config", "check", "--config", try config("a: [\n"))
        #expect(broken.status == 78)
        #expect(broken.errors.contains(":2: no YAML"))
    }

    @Test("A configuration through a pipe is read whole, and a pipe that holds nothing is refused; the old one stays")
    func pipe() async throws {
        let pipe = folder("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        @Sendable func put(_ text: String) {
            Thread.detachNewThread {
                // Waits for the reader.
                let file = open(pipe, O_WRONLY)
                _ = text.withCString { Glibc.write(file, $0, strlen($0)) }
                close(file)
            }
        }
        let text = "# \(String(repeating: "x", count: 100_000))\nspools: [\(folder("spool"))]\nto: http://127.0.0.1:9/\n"
        _ = try folder.spool()
        put(text)
        let shown = try await ferry.run("config", "show", "--config", pipe)
        #expect(shown.output.contains("http://127.0.0.1:9/"), "\(shown.errors)")
        put("")
        let empty = try await ferry.run("config", "check", "--config", pipe)
        #expect(empty.status == 78, "\(empty.errors)")
        #expect(empty.errors.contains("nothing comes from \(pipe)"), "\(empty.errors)")
        let large = try await ferry.run(
            "config", "check", "--config", config("#" + String(repeating: "x", count: 1 << 20) + "\n"))
        #expect(large.status == 78, "\(large.errors)")
        #expect(large.errors.contains("is larger than"), "\(large.errors)")
        put(text)
        let running = try ferry.start(["run", "--config", pipe])
        _ = try await running.waitFor("0 segments pending")
        put("")
        running.send(SIGHUP)
        _ = try await running.waitFor("the old one stays")
        running.send(SIGTERM)
        #expect(await running.end().status == 0)
    }

    @Test("A configuration that grows without end is refused at once")
    func growing() async throws {
        let doubled = "a: &a0 {x: 1, y: 2}\n" + (0..<40).map { "b\($0): &a\($0 + 1) {p: *a\($0), q: *a\($0)}\n" }.joined()
        let aliases = try await ferry.run("config", "check", "--config", try config(doubled))
        #expect(aliases.status == 78, "\(aliases.errors)")
        #expect(aliases.errors.contains("too many aliases"), "\(aliases.errors)")
        let keys = try await ferry.run("config", "check", "--config", try config((0..<30_000).map { "k\($0): 1\n" }.joined()))
        #expect(keys.status == 78, "\(keys.errors.prefix(500))")
        #expect(keys.errors.contains("more than 1000 keys"), "\(keys.errors.prefix(500))")
        let few = "to: http://127.0.0.1:1/?a=b&c=d\nspools: &s [\(folder("spool")), \"hub/*\"]\ninterfaces: {deny: [\"*\"]}\n"
        let shown = try await ferry.run("config", "show", "--config", try config(few))
        #expect(!shown.errors.contains("aliases"), "\(shown.errors)")
    }

    @Test("A configuration in another encoding, and one of two documents, is refused with its line instead of being left out")
    func leftOut() async throws {
        _ = try folder.spool()
        let text = "spools: [\(folder("spool"))]\nto: http://127.0.0.1:9/\nbandwidth: 10KB/s\n"
        let file = folder("latin1.yaml")
        try Data(Array("\(text)# f".utf8) + [0xfc] + Array("r die Nacht\n".utf8)).write(to: URL(filePath: file))
        for command in [["config", "check"], ["run"]] {
            let result = try await ferry.start(command + ["--config", file]).end()
            #expect(result.status == 78)
            #expect(result.errors.contains("latin1.yaml:4: it is not UTF-8"), "\(result.errors)")
            #expect(!result.errors.contains("is missing"), "\(result.errors)")
        }
        let marked = folder("marked.yaml")
        try Data([0xef, 0xbb, 0xbf] + Array(text.utf8)).write(to: URL(filePath: marked))
        #expect(try await ferry.run("config", "check", "--config", marked).status == 0)
        let long = try await ferry.run(
            "config", "check", "--config",
            config(text + "headers: [" + (0..<1001).map { "\"X-\($0): 1\"" }.joined(separator: ", ") + "]\n"))
        #expect(long.status == 78, "\(long.errors.prefix(500))")
        #expect(long.errors.contains("1000 values at most"), "\(long.errors.prefix(500))")
        let two = try await ferry.run("config", "check", "--config", try config("\(text)---\ninterval: 5m\n"))
        #expect(two.status == 78, "\(two.output)\(two.errors)")
        #expect(two.errors.contains("ferry.yaml"), "\(two.output)\(two.errors)")
        let good = try await ferry.run("config", "check", "--config", try config("# nothing yet\n"))
        #expect(good.errors.contains("'to' is missing"), "\(good.errors)")
    }

    @Test("Each value says where it comes from, the strongest wins")
    func show() async throws {
        let file = try config("profile: sensors\ninterval: 7s\nparallel: 2\nthreshold: {events: 9}\nspools: [a, b]\n")
        let shown = try await Program(environment: ["FERRY_INTERVAL": "8s", "FERRY_THRESHOLD_EVENTS": "10"])
            .run("config", "show", "--config", file, "--set", "interval=9s")
        let lines = shown.output.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        func line(_ key: String) -> String {
            lines.first { $0.first.map(String.init) == key }?.dropFirst().joined(separator: " ") ?? ""
        }
        #expect(line("interval") == "9s flag")
        #expect(line("threshold.events") == "10 environment")
        #expect(line("parallel") == "2 file")
        #expect(line("order") == "strict profile")
        #expect(line("timeout") == "30s default")
        #expect(line("spools") == "a, b file")
        let alone = try await ferry.run("config", "show", "--explain")
        #expect(alone.status == 0)
        #expect(alone.errors.isEmpty)
        #expect(alone.output.contains("Which SDK's numbers to begin with."))
        let nothing = try await ferry.run("run")
        #expect(nothing.status == 78, "\(nothing.errors)")
        #expect(nothing.errors.split(separator: "\n").count == 2, "\(nothing.errors)")
        for (profile, interval, events, order) in [
            ("appcenter", "6s", "50", "priority"), ("google-analytics", "120s", "off", "strict"),
            ("sensors", "15s", "100", "strict"),
            ("ferry", "60s", "1", "priority"),
        ] {
            let json = try await ferry.run("config", "show", "--json", "--profile", profile).output
            for (key, value) in [("interval", interval), ("threshold.events", events), ("order", order)] {
                #expect(json.contains("\"setting\":\"\(key)\""), "\(profile) \(key)")
                #expect(json.contains("\"values\":[\"\(value)\"]"), "\(profile) \(key)")
            }
        }
    }

    @Test("Signals: SIGUSR1 sends now, SIGHUP reads the configuration again and refuses a bad one, SIGTERM ends with 0")
    func signals() async throws {
        let hub = try await Hub(folder("hub"))
        try await write("spool", "{\"n\":1}")
        let good = "to: \(hub.url)\nspools: [\(folder("spool"))]\n"
        let file = try config(good + "interval: 0\ncritical-delay: off\n")
        let run = try ferry.start(["run", "--config", file, "--log-format", "json"])
        _ = try await run.waitFor("segment pending")
        #expect(try events("hub").isEmpty)
        run.send(SIGUSR1)
        try await eventually("a flush") { try events("hub").count == 1 }
        _ = try config(good + "interval: never\n")
        run.send(SIGHUP)
        _ = try await run.waitFor("the old one stays")
        _ = try config(good)
        run.send(SIGHUP)
        _ = try await run.waitFor("is read again")
        try await write("spool", "{\"n\":2}")
        try await eventually("at once, as the new one says") { try events("hub").count == 2 }
        let start = ContinuousClock.now
        run.send(SIGTERM)
        let end = await run.end()
        #expect(end.status == 0)
        #expect(ContinuousClock.now - start < .seconds(15))
        for line in end.errors.split(separator: "\n") where !line.hasPrefix("ferry:") {
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?["at"] != nil, "\(line)")
            #expect(object?["level"] != nil, "\(line)")
            #expect(object?["message"] != nil, "\(line)")
        }
        await hub.stop()
    }

    @Test(
        "An address of the metrics that another program has, or that is not there, stops no delivery and is told once",
        arguments: ["taken", "missing"])
    func noMetrics(why: String) async throws {
        let hub = try await Hub(folder("hub"))
        let taken = ScriptedServer { _ in }
        try await write("spool", "{\"n\":1}")
        // 192.0.2.1 is no machine's (RFC 5737).
        let address = why == "taken" ? "127.0.0.1:\(taken.port)" : "192.0.2.1:9100"
        let run = try ferry.start(["run", "--spool", folder("spool"), "--to", hub.url, "--set", "metrics.listen=\(address)"])
        _ = try await run.waitFor("metrics.listen: cannot listen on \(address): ")
        try await eventually("it is sent") { try events("hub").count == 1 }
        run.send(SIGTERM)
        let end = await run.end()
        #expect(end.status == 0)
        let told = end.errors.split(separator: "\n").filter { $0.contains("metrics.listen") }
        #expect(told.count == 1, "\(end.errors)")
        #expect(end.errors.contains(why == "taken" ? "Address already in use" : "Cannot assign requested address"))
        await hub.stop()
    }

    @Test("A port that is taken when the configuration is read again stops no delivery")
    func portTakenLater() async throws {
        let hub = try await Hub(folder("hub"))
        let taken = ScriptedServer { _ in }
        try await write("spool", "{\"n\":1}")
        let good = "to: \(hub.url)\nspools: [\(folder("spool"))]\n"
        let file = try config(good)
        let run = try ferry.start(["run", "--config", file])
        try await eventually("the first event") { try events("hub").count == 1 }
        _ = try config(good + "metrics:\n  listen: 127.0.0.1:\(taken.port)\n")
        run.send(SIGHUP)
        _ = try await run.waitFor("delivery goes on")
        try await write("spool", "{\"n\":2}")
        try await eventually("the second event") { try events("hub").count == 2 }
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        await hub.stop()
    }

    @Test("It goes on when the one that reads its log is gone")
    func logReaderGone() async throws {
        try await write("s", "1")
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let result = try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run(
            "-c",
            """
            mkfifo "$DIR/log"
            FERRY_INTERVAL=1s "$FERRY" run --spool "$DIR/s" --to \(server.url) 2>"$DIR/log" & uploader=$!
            head -n 1 <"$DIR/log" >"$DIR/first"
            for event in 2 3; do
                echo $event | "$FERRY" write -q --spool "$DIR/s"
                looks=0
                while ls "$DIR/s" | grep -q gz && [ $looks -lt 300 ]; do sleep 0.1; looks=$((looks + 1)); done
            done
            kill -TERM $uploader
            wait $uploader
            echo $?
            """)
        #expect(result.output == "0\n", "\(result.errors)")
        #expect(try String(contentsOfFile: folder("first"), encoding: .utf8) != "")
        #expect(try events("s").isEmpty)
    }

    @Test("SIGTERM cuts off a request that never ends, and its segment stays")
    func stuck() async throws {
        let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
        let silent = ScriptedServer { peer in
            _ = peer.request()
            continuation.yield()
            peer.waitForClose()
        }
        try await write("spool", "{\"n\":1}")
        let run = try ferry.start(["run", "--spool", folder("spool"), "--to", silent.url])
        for await _ in arrived { break }
        let start = ContinuousClock.now
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try events("spool") == ["{\"n\":1}"])
    }

    @Test("systemd is told that it is ready, how it stands, that it lives, and that it stops")
    func notify() async throws {
        let manager = try DatagramSocket(folder("notify"))
        let hub = try await Hub(folder("hub"))
        try await write("spool", "{\"n\":1}")
        let program = Program(environment: ["NOTIFY_SOCKET": folder("notify"), "WATCHDOG_USEC": "1000000"])
        let run = try program.start(["run", "--spool", folder("spool"), "--to", hub.url])
        var told: [String] = []
        try await eventually("signs of life") {
            told += manager.received()
            return told.filter { $0 == "WATCHDOG=1" }.count >= 3
        }
        #expect(told.contains("READY=1"))
        #expect(told.contains { $0.hasPrefix("STATUS=sent ") })
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        #expect(manager.received().contains("STOPPING=1"))
        await hub.stop()
    }

    @Test("Prometheus' own parser accepts the metrics, from the port and from the file", .needs("promtool", "curl"))
    func metrics() async throws {
        let promtool = try #require(Program.find("promtool"))
        let curl = try #require(Program.find("curl"))
        let hub = try await Hub(folder("hub"))
        try await write("spool", "{\"n\":1}", "{\"n\":2}")
        let run = try ferry.start([
            "run", "--spool", folder("spool"), "--to", hub.url, "--set", "metrics.listen=127.0.0.1:0", "--set",
            "metrics.file=\(folder("ferry.prom"))",
        ])
        let url = "http://127.0.0.1:" + (try await run.waitFor("metrics at http://127.0.0.1:"))
        var text = ""
        try await eventually("both are sent") {
            text = try await Program(curl).run("-sS", url).output
            return text.contains("ferry_sent_events_total{spool=\"\(folder("spool"))\",priority=\"5\"} 2")
        }
        for name in [
            "pending_segments", "oldest_pending_age_seconds", "sent_bytes_total", "retried_attempts_total",
            "rejected_segments_total", "dropped_segments_total", "request_duration_seconds_bucket", "breaker_state",
        ] {
            #expect(text.contains("ferry_\(name){"), "\(name)")
        }
        let file = try String(contentsOfFile: folder("ferry.prom"), encoding: .utf8)
        for text in [text, file] {
            let check = try await Program(promtool).run("check", "metrics", input: text)
            #expect(check.status == 0, "\(check.errors)\(check.output)")
            #expect(check.errors.isEmpty, "\(check.errors)\(check.output)")
        }
        let open = try await Program(curl).run("-sSi", "-H", "Accept: application/openmetrics-text", url).output
        #expect(open.contains("application/openmetrics-text; version=1.0.0"))
        #expect(open.hasSuffix("# EOF\n"))
        run.send(SIGTERM)
        _ = await run.end()
        await hub.stop()
    }

    @Test("A pattern whose folder is missing is waited for, and told; the other spools are served meanwhile")
    func missingCollection() async throws {
        let hub = try await Hub(folder("hub"))
        try await write("here", "{\"n\":1}")
        let run = try ferry.start(["run", "--set", "spools=\(folder("here")),\(folder("mount"))/*", "--to", hub.url])
        _ = try await run.waitFor("\(folder("mount"))/*")
        try await eventually("the other spool's event") { try events("hub") == ["{\"n\":1}"] }
        try FileManager.default.createDirectory(atPath: folder("mount"), withIntermediateDirectories: false)
        try await write("mount/machine", "{\"n\":2}")
        try await eventually("the missing one's event") { try events("hub").count == 2 }
        run.send(SIGTERM)
        let end = await run.end()
        #expect(end.status == 0)
        #expect(end.errors.split(separator: "\n").filter { $0.contains("No such file") }.count == 1, "\(end.errors)")
        await hub.stop()
    }

    @Test(
        "A spool that is missing keeps no other waiting, at the start and when the configuration is read again, and is taken up when it is there"
    )
    func missingSpool() async throws {
        let hub = try await Hub(folder("hub"))
        try await write("here", "{\"n\":1}")
        func text(_ format: String) -> String {
            "to: \(hub.url)\nspools: [\(folder("here")), \(folder("away"))]\nlog-format: \(format)\n"
        }
        let file = try config(text("text"))
        #expect(try await ferry.run("config", "check", "--config", file).status == 78)
        let run = try ferry.start(["run", "--config", file])
        _ = try await run.waitFor(folder("away"))
        try await eventually("the other spool's event") { try events("hub").count == 1 }
        _ = try config(text("json"))
        run.send(SIGHUP)
        _ = try await run.waitFor("{\"")
        try await write("away", "{\"n\":2}")
        try await eventually("the missing one's event") { try events("hub").count == 2 }
        run.send(SIGTERM)
        #expect(await run.end().status == 0)
        await hub.stop()
    }

    @Test("While disabled, writers store nothing, say so, and what was stored stays; status tells")
    func disabled() async throws {
        try await write("spool", "{\"n\":1}")
        #expect(try await ferry.run("disable", "--spool", folder("spool")).status == 0)
        let refused = try await ferry.run("write", "--create", "--spool", folder("spool"), input: "{\"n\":2}\n")
        #expect(refused.status == 69)
        #expect(refused.errors.contains("disabled"))
        #expect(refused.errors.contains("line 1"))
        let upload = try await ferry.run("upload", "--spool", folder("spool"), "--to", "http://127.0.0.1:1/")
        #expect(upload.status == 75)
        #expect(upload.errors.contains("disabled"))
        #expect(
            try await ferry.run("status", "--spool", folder("spool")).output.contains("it stores and sends nothing"))
        #expect(try await ferry.run("enable", "--spool", folder("spool")).status == 0)
        try await write("spool", "{\"n\":3}")
        #expect(try events("spool") == ["{\"n\":1}", "{\"n\":3}"])
    }

    @Test("An upload that holds only what is late says so, and blames no destination for it")
    func holdsLate() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        let created = Timestamp.now() - .seconds(3 * 86_400)
        try spool.put(Segments.gzip("{}\n"), as: SegmentName(priority: .normal, created: created, id: .random()))
        let upload = ["upload", "--spool", folder("spool"), "--to", "http://127.0.0.1:1/", "--retry-now"]
        #expect(try await ferry.start(upload).end().status == 75)
        let held = try await ferry.start(upload + ["--due", "04:00", "--late", "hold"]).end()
        #expect(held.status == 75)
        #expect(held.output.contains("held 1 segment that missed the deadline"), "\(held.output)")
        #expect(!held.errors.contains("failed before"), "\(held.errors)")
    }

    @Test("status shows what must leave when, and what is late", .enabled(if: hasTimeZones, "needs tzdata"))
    func deadlines() async throws {
        let spool = try Spool.open(folder("spool"), access: .create)
        let now = Timestamp.now()
        for age in [0, 3 * 86_400] {
            let name = SegmentName(priority: .normal, created: now - .seconds(age), id: .random())
            try spool.put(Segments.gzip("{}\n"), as: name)
        }
        let status = try await ferry.run(
            "status", "--spool", folder("spool"), "--due", "04:00", "--timezone", "America/Sao_Paulo")
        #expect(status.output.contains("late      1 segment"))
        #expect(status.output.contains("(04:00 in America/Sao_Paulo)"))
        // Today's or yesterday's there: it leaves by the next deadline or the one after.
        let due = status.output.split(separator: "\n").filter { $0.hasPrefix("due ") }
        #expect(due.count == 2)
        #expect(due.filter { $0.contains("1 segment,") }.count == 1)
        #expect(due.filter { $0.contains("0 segments,") }.count == 1)
    }
}

/// A socket as a service manager has it.
private final class DatagramSocket: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if status != 0 { throw CocoaError(.fileWriteUnknown) }
    }

    deinit { close(descriptor) }

    func received() -> [String] {
        var told: [String] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count <= 0 { return told }
            told += String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }
}
