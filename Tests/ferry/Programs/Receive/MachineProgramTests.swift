import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("ferry machine, and a hub of machines")
struct MachineProgramTests {
    private let folder = TemporaryFolder()

    private func machine(_ arguments: String...) async throws -> Program.Result {
        try await Program().start(["machine"] + arguments + ["--machines", folder("hub")]).end()
    }

    /// Adds a machine, and keeps its token in a file.
    private func add(_ name: String, _ more: String...) async throws -> String {
        let made = try await Program().start(["machine", "add", name, "--machines", folder("hub")] + more).end()
        #expect(made.status == 0, "\(made.errors)")
        let path = folder("\(name).token")
        try Data(made.output.utf8).write(to: URL(filePath: path))
        return path
    }

    private func shell(_ script: String) async throws -> Program.Result {
        try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run("-c", script)
    }

    private func start(_ more: String...) async throws -> (running: Running, port: Substring) {
        let running = try Program().start(["receive", "--machines", folder("hub"), "--listen", "127.0.0.1:0"] + more)
        let port = try await running.waitFor("/127.0.0.1:").prefix { $0.isNumber }
        return (running, port)
    }

    private func upload(_ source: Spool, _ port: Substring, _ token: String) async throws -> Program.Result {
        try await Program().run(
            "upload", "--spool", source.path, "--to", "http://127.0.0.1:\(port)/v1/segments", "--token-file", token, "--retry-now"
        )
    }

    @Test("A token that cannot be printed changes nothing, for it would be lost")
    func unprintedToken() async throws {
        _ = try await machine("add", "press")
        let list = try await machine("list", "--json").output
        let shell = Program("/bin/sh", environment: ["FERRY": Program.ferry, "HUB": folder("hub")])
        for command in ["rotate press", "add other"] {
            let result = try await shell.run("-c", "\"$FERRY\" machine \(command) --machines \"$HUB\" >/dev/full")
            #expect(result.status != 0)
            #expect(
                result.errors.contains("cannot write standard output: No space left on device: nothing is changed"),
                "\(result.errors)")
        }
        for place in [">/dev/null", ">&-"] {
            for command in ["rotate press", "add other"] {
                let result = try await shell.run("-c", "\"$FERRY\" machine \(command) --machines \"$HUB\" \(place)")
                #expect(result.status == 64, "\(result.errors)")
                #expect(result.errors.contains("nothing is changed"), "\(result.errors)")
            }
        }
        let press = try String(contentsOfFile: folder("hub/.machines.jsonl"), encoding: .utf8)
        #expect(try await machine("list", "--json").output == list, "\(press)")
    }

    @Test("Where the list cannot be changed, no token is printed, or it is said to be none")
    func printedInVain() async throws {
        _ = try await machine("add", "press")
        // A folder where the lock is to be.
        try FileManager.default.removeItem(atPath: folder("hub/.machines.lock"))
        try FileManager.default.createDirectory(atPath: folder("hub/.machines.lock"), withIntermediateDirectories: false)
        for command in [["rotate", "press"], ["add", "other"]] {
            let result = try await Program().start(["machine"] + command + ["--machines", folder("hub")]).end()
            #expect(result.status != 0)
            #expect(
                result.output.isEmpty || result.errors.contains("what was printed is no token that counts"), "\(result.errors)")
        }
    }

    @Test("A machine that has filled the hub's disk can be revoked")
    func fullDisk() async throws {
        guard folder.mount("size=512k", at: "hub") else { return }
        _ = try await add("evil")
        _ = try await add("good")
        let filled = try await shell("head -c 600000 /dev/zero > \"$DIR/hub/evil/flood\"")
        #expect(filled.status != 0)
        let revoked = try await machine("revoke", "evil")
        let list = try await machine("list")
        #expect(revoked.status == 0, "\(revoked.errors)")
        #expect(list.output.split(separator: "\n").contains { $0.contains("evil") && $0.contains("revoked") }, "\(list.output)")
    }

    @Test("From adding a machine to revoking it, as its help shows it")
    func life() async throws {
        let token = try await add("press-7", "--max-bytes", "2GiB")
        let text = try String(contentsOfFile: token, encoding: .utf8)
        #expect(text.hasPrefix("ferry_"))
        #expect(text.utf8.count == 50)
        let list = try String(contentsOfFile: folder("hub/.machines.jsonl"), encoding: .utf8)
        #expect(!list.contains(text.dropLast(1)))
        let mode = try FileManager.default.attributesOfItem(atPath: folder("hub/.machines.jsonl"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try await machine("add", "press-7").status == 78)
        let (hub, port) = try await start()
        let source = try folder.spool("source")
        try source.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        let sent = try await upload(source, port, token)
        #expect(sent.status == 0, "\(sent.errors)")
        let rotated = try await machine("rotate", "press-7")
        #expect(rotated.status == 0)
        #expect(rotated.output.hasPrefix("ferry_"))
        try source.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        #expect(try await upload(source, port, token).status == 77)
        try Data(rotated.output.utf8).write(to: URL(filePath: token))
        #expect(try await upload(source, port, token).status == 0)
        #expect(try await machine("limit", "press-7", "--rate", "500KB/s", "--priority", "3", "--max-bytes", "off").status == 0)
        let table = try await machine("list")
        #expect(table.output.contains("press-7"))
        #expect(table.output.contains("500 kB/s"))
        #expect(table.output.contains("1 token"))
        let json = try await machine("list", "--json")
        #expect(json.output.contains("\"bytesPerSecond\":500000"))
        #expect(json.output.contains("\"pendingSegments\":2"))
        #expect(try await machine("revoke", "press-7").status == 0)
        try source.put(Segments.gzip("3\n"), as: Segments.name(second: 3))
        #expect(try await upload(source, port, token).status == 77)
        #expect(try await machine("list").output.contains("revoked"))
        let unrotated = try await machine("rotate", "press-7")
        #expect(unrotated.status == 78)
        #expect(unrotated.output.isEmpty)
        #expect(unrotated.errors.contains("ferry machine add press-7"), "\(unrotated.errors)")
        let again = try await add("press-7")
        #expect(try await upload(source, port, again).status == 0)
        hub.send(SIGTERM)
        #expect(await hub.end().status == 0)
        #expect(hub.errors.contains("refused a request of - at 127.0.0.1 with 401"))
        #expect(try Spool.open(folder("hub/press-7"), access: .read).events(in: [.pending]) == ["1", "2", "3"])
    }

    @Test(
        "What cannot be is said in a line, with what to do",
        arguments: [
            (["add", "../x"], 64, "letters, digits"), (["rotate", "nobody"], 78, "ferry machine add nobody"),
            (["revoke", "nobody"], 78, "there is no machine nobody"), (["limit", "nobody"], 64, "--max-bytes"),
            (["limit", "nobody", "--rate", "fast"], 64, "500KB/s"), (["add", "x", "--priority", "11"], 64, "0 to 9"),
            (["add", "x", "--certificate", "/nowhere.pem"], 78, "/nowhere.pem"),
        ] as [([String], Int32, String)])
    func refusals(arguments: [String], status: Int32, words: String) async throws {
        try FileManager.default.createDirectory(atPath: folder("hub"), withIntermediateDirectories: true)
        let result = try await Program().start(["machine"] + arguments + ["--machines", folder("hub")]).end()
        #expect(result.status == status)
        #expect(result.errors.contains(words), "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("hub/x")))
    }

    @Test("A hub whose list is gone gets no new one that would lock the others out")
    func lostList() async throws {
        _ = try await add("press-7")
        try FileManager.default.removeItem(atPath: folder("hub/.machines.jsonl"))
        let refused = try await machine("add", "press-8")
        #expect(refused.status == 78)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains(".machines.jsonl is gone"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("hub/press-8")))
        try Data().write(to: URL(filePath: folder("hub/.machines.jsonl")))
        #expect(try await machine("add", "press-8").status == 0)
    }

    @Test(
        "A listener beyond this machine that lets anybody in, or anybody read, does not start unless told to",
        arguments: [
            ([], "--machines, --token-file"), (["--token-file", "TOKEN"], "--tls-cert"), (["--machines", "HUB"], "--tls-cert"),
        ] as [([String], String)])
    func insecure(more: [String], words: String) async throws {
        try Data("secret\n".utf8).write(to: URL(filePath: folder("token")))
        _ = try await add("a")
        let more = more.map { $0 == "TOKEN" ? folder("token") : $0 == "HUB" ? folder("hub") : $0 }
        let place = more.contains("--machines") ? [] : ["--spool", folder("spool")]
        for address in ["0.0.0.0:0", "[::]:0"] {
            let refused = try await Program().start(["receive", "--listen", address] + place + more).end()
            #expect(refused.status == 64)
            #expect(refused.errors.contains(words), "\(refused.errors)")
            #expect(refused.errors.contains("--insecure"), "\(refused.errors)")
        }
        let allowed = try Program().start(["receive", "--listen", "0.0.0.0:0", "--insecure"] + place + more)
        _ = try await allowed.waitFor("listening on ")
        allowed.send(SIGTERM)
        _ = await allowed.end()
    }

    @Test("A listener beyond this machine with TLS that lets anybody in does not start; one on this machine needs neither")
    func insecureWithTLS() async throws {
        let refused = try await Program().run(
            "receive", "--listen", "0.0.0.0:0", "--spool", folder("spool"), "--tls-cert", "any.pem", "--tls-key", "any.key")
        #expect(refused.status == 64)
        #expect(refused.errors.contains("--machines, --token-file"))
        #expect(!refused.errors.contains("--tls-cert"))
        #expect(!FileManager.default.fileExists(atPath: folder("spool")))
        for address in ["127.0.0.1:0", "127.0.0.9:0", "localhost:0"] {
            let allowed = try Program().start(["receive", "--listen", address, "--spool", folder("spool")])
            _ = try await allowed.waitFor("listening on ")
            allowed.send(SIGTERM)
            #expect(await allowed.end().status == 0)
        }
    }

    @Test(
        "What root makes of a hub is the folder's owner's, whom the receiver runs as", .enabled(if: getuid() == 0, "needs root"))
    func givenAway() async throws {
        mkdir(folder("lib"), 0o755)
        #expect(chown(folder("lib"), 65534, 65534) == 0)
        let hub = folder("lib/hub")
        for command in [
            ["add", "a", "--save", folder("a.token")], ["rotate", "a", "--save", folder("a.new")],
            ["limit", "a", "--rate", "1MB/s"],
        ] {
            let result = try await Program().start(["machine"] + command + ["--machines", hub]).end()
            #expect(result.status == 0, "\(result.errors)")
        }
        for name in ["", "/.machines.jsonl", "/.machines.lock", "/a", "/a/.ferry", "/a/.ferry/spool-id"] {
            var status = stat()
            #expect(lstat(hub + name, &status) == 0, "\(name)")
            #expect(status.st_uid == 65534, "\(name)")
        }
    }

    @Test("A token goes into a new file alone, and is never written over another one")
    func savedToken() async throws {
        let first = try await machine("add", "press-7", "--save", folder("token"))
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.isEmpty)
        let token = try String(contentsOfFile: folder("token"), encoding: .utf8)
        var status = stat()
        #expect(stat(folder("token"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        for command in [["add", "press-8"], ["rotate", "press-7"]] {
            let again = try await Program().start(
                ["machine"] + command + ["--machines", folder("hub"), "--save", folder("token")]
            ).end()
            #expect(again.status == 64, "\(again.errors)")
            #expect(again.errors.contains("is there already"), "\(again.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder("hub/press-8")))
        #expect(try String(contentsOfFile: folder("token"), encoding: .utf8) == token)
        // A refused change leaves no file whose token does not count.
        let refused = try await machine("add", "press-7", "--save", folder("other"))
        #expect(refused.status == 78, "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("other")))
        let (hub, port) = try await start()
        let source = try folder.spool("source")
        try source.put(Segments.gzip("1\n"))
        let sent = try await Program().run(
            "upload", "--spool", source.path, "--to", "http://localhost:\(port)/v1/segments", "--token-file", folder("token"))
        #expect(sent.status == 0, "\(sent.errors)")
        hub.send(SIGTERM)
        _ = await hub.end()
    }

    @Test("A look at a hub's receiver tells whether the path and the token are right, and takes nothing")
    func online() async throws {
        let token = try await add("press-7")
        try "wrong\n".write(toFile: folder("wrong"), atomically: true, encoding: .utf8)
        let (hub, port) = try await start()
        _ = try folder.spool("source")
        func check(_ path: String, _ token: String) async throws -> Program.Result {
            try await Program().run(
                "config", "check", "--online", "--spool", folder("source"), "--to", "http://127.0.0.1:\(port)\(path)", "--set",
                "token-file=\(token)")
        }
        let right = try await check("/v1/segments", token)
        #expect(right.status == 0, "\(right.output)\(right.errors)")
        #expect(right.output.contains(": good: "), "\(right.output)")
        let stranger = try await check("/v1/segments", folder("wrong"))
        #expect(stranger.status == 77, "\(stranger.output)\(stranger.errors)")
        let elsewhere = try await check("/v2/segments", token)
        #expect(elsewhere.output.contains("the path is wrong"), "\(elsewhere.output)")
        hub.send(SIGTERM)
        _ = await hub.end()
        #expect(try Spool.open(folder("hub/press-7"), access: .read).pending().isEmpty)
    }

    @Test("Several that are added at once to a new hub are all added; a spool that a killed one left hinders none")
    func atOnce() async throws {
        let hub = folder("hub")
        let all = try (0..<8).map { number in
            try Program().start(["machine", "add", "m\(number)", "--machines", hub, "--save", folder("t\(number)")])
        }
        for running in all {
            let result = await running.end()
            #expect(result.status == 0, "\(result.errors)")
        }
        #expect(try String(contentsOfFile: "\(hub)/.machines.jsonl", encoding: .utf8).split(separator: "\n").count == 8)
        // Killed between its spool and its line.
        _ = try folder.spool("hub/left")
        let added = try await machine("add", "left", "--save", folder("left"))
        #expect(added.status == 0, "\(added.errors)")
    }

    @Test("Without an output for a token nothing is made")
    func noOutput() async throws {
        let result = try await Program("/bin/sh", environment: ["FERRY": Program.ferry, "DIR": folder.path]).run(
            "-c",
            #"""
            ln -s nowhere/at/all "$DIR/link"
            for way in ">/dev/null" ">/dev/full" "--save $DIR/none/token" "--save $DIR/link"; do
                eval "\"\$FERRY\" machine add m1 --machines \"\$DIR/hub\" $way" && echo "$way"
            done
            """#)
        #expect(result.output.isEmpty, "\(result.output) \(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("hub/m1")))
        #expect(try await machine("add", "m1", "--save", folder("token")).status == 0)
    }

    @Test("A machine may be known by its client certificate, but not by another's, nor by none", .needs("openssl"))
    func certificates() async throws {
        let openssl = try #require(Program.find("openssl"))
        for name in ["server", "client", "stranger"] {
            let made = try await Program(openssl).run(
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder("\(name).key"), "-out", folder("\(name).pem"),
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
            #expect(made.status == 0, "\(made.errors)")
        }
        let made = try await machine("add", "press-7", "--certificate", folder("client.pem"))
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.isEmpty, "\(made.errors)")
        let again = try await machine("add", "press-9", "--certificate", folder("client.pem"))
        #expect(again.status == 78, "\(again.errors)")
        #expect(again.errors.contains("press-7 is known by this certificate already"), "\(again.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("hub/press-9")))
        let token = try await add("press-8")
        let (hub, port) = try await start("--tls-cert", folder("server.pem"), "--tls-key", folder("server.key"))
        let source = try folder.spool("source")
        func upload(_ more: String...) async throws -> Int32 {
            try await Program().start(
                ["upload", "--spool", source.path, "--to", "https://localhost:\(port)/v1/segments", "--ca", folder("server.pem")]
                    + ["--retry-now"] + more
            ).end().status
        }
        try source.put(Segments.gzip("1\n"))
        #expect(try await upload() == 77)
        #expect(try await upload("--cert", folder("stranger.pem"), "--key", folder("stranger.key")) == 77)
        // The certificate is press-7's and the token press-8's.
        let both = ["--cert", folder("client.pem"), "--key", folder("client.key")]
        #expect(try await upload(both[0], both[1], both[2], both[3], "--token-file", token) == 77)
        #expect(try await upload(both[0], both[1], both[2], both[3]) == 0)
        try source.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        #expect(try await upload("--token-file", token) == 0)
        hub.send(SIGTERM)
        _ = await hub.end()
        #expect(try Spool.open(folder("hub/press-7"), access: .read).events(in: [.pending]) == ["1"])
        #expect(try Spool.open(folder("hub/press-8"), access: .read).events(in: [.pending]) == ["2"])
    }

    @Test("Of refusals of one address within a minute the log has one, and how many more there were, also when none follows")
    func heldBack() async throws {
        _ = try await add("a")
        let (hub, port) = try await start()
        let number = try #require(Int(port))
        for _ in 0..<20 { #expect(try await RawClient.post(Segments.gzip("1\n"), port: number).status == 401) }
        hub.send(SIGTERM)
        let end = await hub.end()
        #expect(end.status == 0)
        let lines = end.errors.split(separator: "\n").filter { $0.contains(" at 127.0.0.1 with 401") }
        #expect(lines.count == 2, "\(end.errors)")
        #expect(lines.first?.contains("refused a request of - at 127.0.0.1 with 401: ") == true, "\(end.errors)")
        #expect(lines.last?.contains("refused 19 more requests of - at 127.0.0.1 with 401") == true, "\(end.errors)")
    }

    @Test("Metrics beyond this machine are served when that is asked for twice")
    func openMetrics() async throws {
        _ = try await add("a")
        let options = ["receive", "--machines", folder("hub"), "--listen", "127.0.0.1:0", "--metrics", "0.0.0.0:0"]
        let refused = try await Program().start(options).end()
        #expect(refused.status == 64, "\(refused.errors)")
        #expect(refused.errors.contains("--metrics 0.0.0.0:0 is beyond this machine"), "\(refused.errors)")
        let allowed = try Program().start(options + ["--insecure"])
        _ = try await allowed.waitFor("metrics at ")
        allowed.send(SIGTERM)
        _ = await allowed.end()
    }

    @Test(
        "With few descriptors, idle connections to both ports end nothing: joined segments of many hours and metrics go on",
        .needs("curl"),
        arguments: [[], ["--gather", "1MiB", "--gather-after", "1s"]])
    func fewDescriptors(more: [String]) async throws {
        let token = try await add("a")
        let hub = try Program("/bin/sh", environment: ["FERRY": Program.ferry, "HUB": folder("hub")]).start(
            [
                "-c",
                "ulimit -n 256; exec \"$FERRY\" receive --machines \"$HUB\" --listen 127.0.0.1:0 --metrics 127.0.0.1:0 --timeout 2s \"$@\"",
                "sh",
            ] + more)
        let metrics = try #require(Int(try await hub.waitFor("metrics at http://127.0.0.1:").prefix { $0.isNumber }))
        let port = try await hub.waitFor("listening on http://127.0.0.1:").prefix { $0.isNumber }
        let listening = try #require(Int(port))
        let idle = try (0..<400).map { number in
            let client = try RawClient(port: number % 2 == 0 ? metrics : listening)
            client.send("GET /metrics HTTP/1.1\r\nHo")
            return client
        }
        let source = try folder.spool("source")
        for hour in 0..<300 {
            try source.put(Segments.gzip("\(hour)\n"), as: Segments.name(second: hour * 3600))
        }
        try await eventually("all is taken: \(hub.errors)") {
            _ = try await upload(source, port, token)
            return try source.pending().isEmpty
        }
        let curl = try #require(Program.find("curl"))
        try await eventually("the metrics are served: \(hub.errors)") {
            try await Program(curl).run("-s", "http://127.0.0.1:\(metrics)/metrics").output.contains("{machine=\"a\"} 300\n")
        }
        withExtendedLifetime(idle) {}
        hub.send(SIGTERM)
        #expect(await hub.end().status == 0)
        #expect(hub.errors.contains("raise the limit (ulimit -n)"), "\(hub.errors)")
        #expect(try Spool.open(folder("hub/a"), access: .read).events(in: [.pending]).count == 300)
    }

    @Test("With too few descriptors a receiver does not start; with few it finishes any number of segments that another left")
    func leastDescriptors() async throws {
        let spool = try folder.spool("spool")
        for second in 0..<300 {
            let arrival = try spool.arrivals.begin()
            try arrival.file.write(Segments.gzip("\(second)\n"))
            let name = Segments.name(second: second)
            let zeros = String(repeating: "0", count: 64)
            var entry = ReceivedEntry(at: .now(), key: name.id, sha256: zeros, segment: name.fileName, bytes: 1, events: 1)
            entry.file = arrival.fileName
            try spool.received.log([entry])
        }
        func start(_ limit: Int) throws -> Running {
            try Program("/bin/sh", environment: ["FERRY": Program.ferry, "SPOOL": spool.path]).start([
                "-c", "ulimit -n \(limit); exec \"$FERRY\" receive --spool \"$SPOOL\" --listen 127.0.0.1:0",
            ])
        }
        let refused = try await start(64).end()
        #expect(refused.status == 74, "\(refused.errors)")
        #expect(refused.errors.contains("only 64 files may be open"), "\(refused.errors)")
        let receiver = try start(200)
        _ = try await receiver.waitFor("listening on ")
        receiver.send(SIGTERM)
        #expect(await receiver.end().status == 0)
        #expect(try spool.pending().count == 300)
    }

    @Test(
        "A token and a certificate that are replaced count without a restart; what cannot be used is told of, and changes nothing",
        .needs("openssl", "curl")
    )
    func replacedFiles() async throws {
        let openssl = try #require(Program.find("openssl"))
        let curl = try #require(Program.find("curl"))
        func make(_ name: String) async throws {
            let made = try await Program(openssl).run(
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder("\(name).key"), "-out", folder("\(name).pem"),
                "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
            #expect(made.status == 0, "\(made.errors)")
        }
        for name in ["server", "old", "new"] { try await make(name) }
        func replace(_ name: String, _ content: String) throws {
            try content.write(toFile: folder(name), atomically: true, encoding: .utf8)
        }
        try replace("token", "first\n")
        try replace("server.pem", String(contentsOfFile: folder("old.pem"), encoding: .utf8))
        try replace("server.key", String(contentsOfFile: folder("old.key"), encoding: .utf8))
        let hub = try Program().start([
            "receive", "--listen", "127.0.0.1:0", "--spool", folder("hub"), "--token-file", folder("token"), "--tls-cert",
            folder("server.pem"), "--tls-key", folder("server.key"),
        ])
        let port = try await hub.waitFor("/127.0.0.1:").prefix { $0.isNumber }
        /// The status of an empty request, which gets as far as the token.
        func status(_ token: String, _ certificate: String) async throws -> String {
            try await Program(curl).run(
                "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", folder("\(certificate).pem"), "-H",
                "Authorization: Bearer \(token)", "-d", "", "https://localhost:\(port)/v1/segments"
            ).output
        }
        #expect(try await status("first", "old") == "400")
        #expect(try await status("second", "old") == "401")
        try replace("token", "second\n")
        try await eventually("the new token counts") { try await status("second", "old") == "400" }
        #expect(try await status("first", "old") == "401")
        try replace("token", "")
        try await eventually("the empty file is told of: \(hub.errors)") {
            _ = try await status("second", "old")
            return hub.errors.contains("has changed and cannot be used")
        }
        #expect(try await status("second", "old") == "400")
        // For a moment they do not belong together.
        try replace("server.pem", String(contentsOfFile: folder("new.pem"), encoding: .utf8))
        try await eventually("the certificate without its key is told of: \(hub.errors)") {
            _ = try await status("second", "old")
            return hub.errors.contains("server.key has changed and cannot be used")
        }
        #expect(try await status("second", "old") == "400")
        try replace("server.key", String(contentsOfFile: folder("new.key"), encoding: .utf8))
        try await eventually("the new certificate is shown") { try await status("second", "new") == "400" }
        hub.send(SIGTERM)
        #expect(await hub.end().status == 0)
    }

    @Test("A machine is known by its name, whichever way its segments come: over HTTP, by a stick, or copied into its folder")
    func ways() async throws {
        let token = try await add("press-7")
        let (hub, port) = try await start()
        let source = try folder.spool("source")
        try source.put(Segments.gzip("1\n"), as: Segments.name(second: 1))
        #expect(try await upload(source, port, token).status == 0)
        try source.put(Segments.gzip("2\n"), as: Segments.name(second: 2))
        mkdir(folder("stick"), 0o700)
        let exported = try await Program().run("export", folder("stick"), "--spool", source.path)
        #expect(exported.status == 0, "\(exported.errors)")
        let taken = try await Program().run("import", folder("stick"), "--spool", folder("hub/press-7"))
        #expect(taken.output.hasPrefix("took 1 segment ("), "\(taken)")
        #expect(taken.output.contains(") of press-7 from "), "\(taken.output)")
        let again = try await Program().run("import", folder("stick"), "--spool", folder("hub/press-7"), "--json")
        #expect(again.output.contains(#""machine":"press-7""#), "\(again.output)")
        #expect(again.output.contains(#""spool":"\#(source.id)""#), "\(again.output)")
        try Spool.open(folder("hub/press-7"), access: .write).put(Segments.gzip("3\n"), as: Segments.name(second: 3))
        let status = try await Program().run("status", folder("hub/press-7"), "--json")
        for part in [#""machine":"press-7""#, #""inBundle":true"#, #""segments":3"#, #""spool":"\#(source.id)""#] {
            #expect(status.output.contains(part), "\(part) in \(status.output)")
        }
        let text = try await Program().run("status", folder("hub/press-7"))
        #expect(text.output.contains("\n\(source.id)         2"), "\(text.output)")
        hub.send(SIGTERM)
        let errors = await hub.end().errors
        #expect(errors.contains(" from press-7 at 127.0.0.1"), "\(errors)")
    }

    @Test("What each machine sent, and what was refused, is in the metrics", .needs("curl"))
    func metrics() async throws {
        let token = try await add("a")
        let hub = try Program().start([
            "receive", "--machines", folder("hub"), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
        ])
        let metrics = try await hub.waitFor("metrics at http://127.0.0.1:").prefix { $0.isNumber }
        let port = try await hub.waitFor("listening on http://127.0.0.1:").prefix { $0.isNumber }
        let source = try folder.spool("source")
        try source.put(Segments.gzip("1\n2\n"))
        try Data("ferry_wrong\n".utf8).write(to: URL(filePath: folder("wrong")))
        #expect(try await upload(source, port, folder("wrong")).status == 77)
        #expect(try await upload(source, port, token).status == 0)
        let curl = try #require(Program.find("curl"))
        let text = try await Program(curl).run("-s", "http://127.0.0.1:\(metrics)/metrics").output
        #expect(text.contains("ferry_received_segments_total{machine=\"a\"} 1\n"))
        #expect(text.contains("ferry_received_events_total{machine=\"a\"} 2\n"))
        #expect(text.contains("ferry_refused_requests_total{status=\"401\"} 1\n"))
        hub.send(SIGTERM)
        _ = await hub.end()
    }
}
