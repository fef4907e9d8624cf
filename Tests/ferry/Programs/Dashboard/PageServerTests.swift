import FerrySpool
import Foundation
import TestSupport
import Testing

@testable import ferry

@Suite("The page that ferry receive and ferry run serve")
struct PageServerTests {
    private let folder = TemporaryFolder()

    private func token() throws -> [String] {
        try "page-secret\n".write(toFile: folder("token"), atomically: true, encoding: .utf8)
        return ["--dashboard-token-file", folder("token")]
    }

    @Test("Every answer forbids what it does not need: other hosts, foreign scripts, guessing of types, referrers, copies")
    func headers() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        let server = try await PageServer(hub: hub.path, token())
        let bearer = ["Authorization: Bearer page-secret"]
        for (request, headers, status) in [
            ("GET /", bearer, "200"), ("GET /", [], "401"), ("GET /?q=x&all=1", bearer, "200"), ("POST /logout", [], "303"),
        ] {
            let answer = try await server.answer(request, headers)
            #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(request): \(answer.prefix(200))")
            #expect(answer.contains("Content-Security-Policy: default-src 'none'; style-src 'sha256-"))
            #expect(answer.contains("frame-ancestors 'none'"))
            #expect(!answer.prefix(2000).contains("unsafe"))
            #expect(answer.contains("X-Content-Type-Options: nosniff\r\n"))
            #expect(answer.contains("Referrer-Policy: no-referrer\r\n"))
            #expect(answer.contains("Cache-Control: no-store\r\n"))
        }
        await server.stop()
    }

    @Test("A form that comes a byte at a time gives its place back, though its connection is never quiet") func drippedForm()
        async throws
    {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        let server = try await PageServer(hub: hub.path, token())
        let client = try RawClient(port: server.port)
        client.send("POST /login HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nContent-Length: 4000\r\n\r\n")
        let dripping = Task {
            while !Task.isCancelled {
                client.send("x")
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        let answer = await client.nextAnswer()
        dripping.cancel()
        #expect(answer.hasPrefix("HTTP/1.1 413"), "\(answer.prefix(100))")
        await server.stop()
    }

    @Test("Only who shows the token reads: as a bearer, or by the cookie of the form")
    func access() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press-of-a-secret-place")
        let server = try await PageServer(hub: hub.path, token())
        for headers in [
            [], ["Authorization: Bearer page-secre"], ["Authorization: Bearer "], ["Authorization: Basic page-secret"],
            ["Cookie: ferry-page-\(server.port)="], ["Cookie: ferry-page-\(server.port)=page-secret"], ["Cookie: a=b; ;=;"],
        ] {
            for path in ["/", "/events", "/?token=page-secret"] {
                let answer = try await server.answer("GET \(path)", headers)
                #expect(answer.hasPrefix("HTTP/1.1 401"), "\(headers)")
                #expect(!answer.contains("press-of-a-secret-place"))
            }
        }
        #expect(try await server.answer("POST /login", body: "token=wrong").hasPrefix("HTTP/1.1 401"))
        #expect(
            try await server.answer("POST /login", body: "token=" + String(repeating: "x", count: 10_000)).hasPrefix(
                "HTTP/1.1 413"))
        let login = try await server.answer("POST /login", body: "token=page-secret")
        #expect(login.hasPrefix("HTTP/1.1 303"))
        let cookie = try #require(login.firstMatch(of: /Set-Cookie: ([^;]+);([^\r]*)/))
        #expect(cookie.output.2.contains("HttpOnly") && cookie.output.2.contains("SameSite=Strict"))
        #expect(!cookie.output.1.contains("page-secret"))
        #expect(try await server.answer("GET /", ["Cookie: x=y; \(cookie.output.1)"]).contains("press-of-a-secret-place"))
        await server.stop()
    }

    @Test("A monitor may ask for the head alone")
    func headAlone() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        let server = try await PageServer(hub: hub.path, token())
        let head = try await server.answer("HEAD /", ["Authorization: Bearer page-secret"])
        #expect(head.hasPrefix("HTTP/1.1 200"), "\(head)")
        #expect(!head.contains("<html"))
        #expect(try await server.answer("HEAD /", ["Authorization: Bearer guess"]).hasPrefix("HTTP/1.1 401"))
        await server.stop()
    }

    @Test("A request that was meant for another name is refused, with or without a token")
    func rebinding() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        let server = try await PageServer(hub: hub.path)
        for path in ["GET /", "GET /events", "POST /login", "POST /logout"] {
            for host in ["evil.example", "127.0.0.1.evil.example:\(server.port)"] {
                #expect(try await server.answer(path, host: host).hasPrefix("HTTP/1.1 421"), "\(path)")
            }
        }
        #expect(try await server.answer("GET /", host: "localhost:\(server.port)").hasPrefix("HTTP/1.1 200"))
        await server.stop()
    }

    @Test("Beyond this machine nothing starts without a token, and says so in a line", arguments: ["receive", "run"])
    func beyond(command: String) async throws {
        let hub = try HubFixture(folder)
        let address = ["--dashboard", "0.0.0.0:0"]
        let arguments =
            command == "receive"
            ? ["receive", "--listen", "127.0.0.1:0", "--machines", hub.path]
            : ["run", "--spool", "\(hub.path)/*", "--to", "http://127.0.0.1:1/"]
        let result = try await Program().start(arguments + address).end()
        #expect(result.status == 78)
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(result.errors.contains("is beyond this machine") && result.errors.contains("token-file"), "\(result.errors)")
        try "".write(toFile: folder("token"), atomically: true, encoding: .utf8)
        let empty = try await Program().start(arguments + address + ["--dashboard-token-file", folder("token")]).end()
        #expect(empty.status == 78)
        #expect(empty.errors.contains("must hold one line"), "\(empty.errors)")
    }

    @Test("A change is told to those who listen, and one too many is told to come again")
    func events() async throws {
        let hub = try HubFixture(folder)
        let spool = try hub.addHealthy("press")
        let server = try await PageServer(hub: hub.path)
        var clients: [RawClient] = []
        for _ in 0..<EventClients.most {
            let client = try RawClient(port: server.port)
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await client.nextAnswer().contains("text/event-stream"))
            clients.append(client)
        }
        let refused = try await server.answer("GET /events")
        #expect(refused.hasPrefix("HTTP/1.1 503"))
        #expect(refused.contains("Retry-After: "))
        // The page itself is there for others all the same.
        #expect(try await server.answer("GET /").hasPrefix("HTTP/1.1 200"))
        for number in 0..<3 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: number)) }
        var told = ""
        while !told.contains("event: changed") {
            let piece = await clients[0].nextAnswer()
            if piece.isEmpty { break }
            told += piece
        }
        #expect(told.contains("event: changed"))
        // Those who went leave their places.
        clients = []
        try await eventually("a place for another reader") {
            let client = try RawClient(port: server.port)
            client.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return await client.nextAnswer().hasPrefix("HTTP/1.1 200")
        }
        await server.stop()
    }

    @Test("A search is a plain parameter, and what is looked for is a text")
    func search() async throws {
        let hub = try HubFixture(folder)
        for name in ["press-1", "oven-2"] { try hub.addHealthy(name) }
        let server = try await PageServer(hub: hub.path)
        let found = try await server.answer("GET /?q=OVEN")
        #expect(found.contains(">oven-2<") && !found.contains(">press-1<"))
        let hostile = try await server.answer("GET /?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E%00%E2%80%AE")
        #expect(hostile.contains("No machine is found"))
        #expect(!hostile.contains("<script>alert"))
        for query in [
            "q=%", "q=%zz", "q", "&&&=", String(repeating: "a", count: 5000), "q=" + String(repeating: "a%20", count: 2000),
        ] {
            #expect(try await server.answer("GET /?\(query)").hasPrefix("HTTP/1.1 200"), "\(query.prefix(40))")
        }
        await server.stop()
    }

    @Test("ferry run serves the page too, and an address that is taken stops no delivery")
    func run() async throws {
        let hub = try await Hub(folder("to"))
        let spool = try folder.spool("from")
        try spool.put(Segments.gzip("{}\n"))
        let port = LoopbackPort.own()
        let arguments = ["run", "--spool", folder("from"), "--to", hub.url, "--dashboard", "127.0.0.1:\(port)"]
        let run = try Program().start(arguments)
        _ = try await run.waitFor("the page is at http://127.0.0.1:")
        try await eventually("what was sent to be on the page") {
            let client = try RawClient(port: port)
            client.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let page = await client.answer()
            return page.contains("/v1/segments") && page.contains(">sent<")
        }
        let other = try folder.spool("other")
        try other.put(Segments.gzip("{}\n"))
        let second = try Program().start(["run", "--spool", folder("other")] + arguments[3...])
        _ = try await second.waitFor("dashboard.listen: cannot listen on 127.0.0.1:\(port)")
        try await eventually("the second one to send") { try other.pending().isEmpty }
        for process in [run, second] {
            process.send(SIGTERM)
            #expect(await process.end().status == 0)
        }
        await hub.stop()
    }

    @Test("A destination that has never taken anything is told as one that fails")
    func neverTaken() async throws {
        try folder.spool("hub/press").put(Segments.gzip("{}\n"))
        _ = try await Program().run("upload", "--quiet", "--spool", folder("hub/press"), "--to", "http://127.0.0.1:9/never")
        let result = try await Program().run("report", folder("hub") + "/*", "--text")
        #expect(result.output.contains("http://127.0.0.1:9/never"), "\(result.output)")
    }

    @Test("A report is written from the folders: a page to carry away, and text for a mail")
    func report() async throws {
        let hub = try HubFixture(folder)
        try hub.addHealthy("press")
        try hub.addHostile("oven")
        let file = folder("hub.html")
        let result = try await Program().run("report", "\(hub.path)/*", "--html", file, "--text")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("2 spools"))
        #expect(result.output.contains("oven"))
        #expect(result.output.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x202e })
        let page = try String(contentsOfFile: file, encoding: .utf8)
        #expect(page.contains(">press<") && !page.contains("<script"))
        #expect(page.utf8.count < 100_000)
        #expect(try await Program().run("report", "\(hub.path)/*").status == 64)
        #expect(try await Program().run("report", folder("nothing") + "/*", "--text").status == 74)
        #expect(try await Program().run("report", "\(hub.path)/*", "--html", folder("no/such/folder")).status == 74)
    }

    @Test("A thousand machines are on one page")
    func thousand() async throws {
        let hub = try HubFixture(folder)
        for number in 0..<1000 { try hub.addHealthy("machine-\(number)") }
        let file = folder("hub.html")
        let result = try await Program().run("report", "\(hub.path)/*", "--html", file)
        #expect(result.status == 0, "\(result.errors)")
        let page = try String(contentsOfFile: file, encoding: .utf8)
        #expect(page.matches(of: /<bdi>machine-[0-9]+<\/bdi><\/th>/).count == 1000)
    }
}
