import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Against real software")
struct RealSoftwareTests {
    private let folder = TemporaryFolder()

    @Test("nginx takes segments by WebDAV, and its 413 makes Ferry split", .needs("nginx"))
    func nginx() async throws {
        let nginx = try #require(Program.find("nginx"))
        let socket = folder("nginx.sock")
        let port = LoopbackPort.own()
        try FileManager.default.createDirectory(atPath: folder("www/in"), withIntermediateDirectories: true)
        try """
        daemon off; worker_processes 1; pid \(folder("pid")); error_log \(folder("error.log")); user root;
        events {}
        http {
          access_log off; client_body_temp_path \(folder("body")); proxy_temp_path \(folder("p")); fastcgi_temp_path \(folder("f"));
          uwsgi_temp_path \(folder("u")); scgi_temp_path \(folder("c"));
          server { listen unix:\(socket); listen 127.0.0.1:\(port); root \(folder("www")); client_max_body_size 2k; location /in/ { dav_methods PUT; } }
        }
        """.write(toFile: folder("nginx.conf"), atomically: true, encoding: .utf8)
        let server = try Program(nginx).start(["-c", folder("nginx.conf"), "-p", folder.path])
        let deadline = ContinuousClock.now + .seconds(10)
        while !FileManager.default.fileExists(atPath: socket), ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(10))
        }
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.lines(0..<20)), as: Segments.name(second: 1))
        try spool.put(Segments.gzip((0..<3000).map { "{\"n\":\($0 * 7919)}\n" }.joined()), as: Segments.name(second: 2))
        let url = "http+unix://\(socket.replacingOccurrences(of: "/", with: "%2F"))/in/{segment}"
        let first = try await Program().run("upload", "--spool", spool.path, "--to", url, "--method", "PUT", "--limit", "1")
        #expect(first.status == 75, "\(first.errors)")
        let upload = try await Program().run(
            "upload", "--spool", spool.path, "--to", "http://127.0.0.1:\(port)/in/{segment}", "--method", "PUT")
        server.send(SIGTERM)
        _ = await server.end()
        #expect(upload.status == 0, "\(upload.errors)")
        let stored = try Directory.open(folder("www/in"))
        var lines = 0
        for name in try stored.names() { lines += try stored.open(name).map { try Segments.lines(of: $0).count } ?? 0 }
        #expect(lines == 3020)
    }

    @Test("rsync copies a spool while it is written and uploaded: only whole segments arrive", .needs("rsync"))
    func rsync() async throws {
        let rsync = try #require(Program.find("rsync"))
        let pipe = folder("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let spool = try folder.spool()
        let writer = try Program().start(["write", "--create", "--spool", spool.path, "--roll-events", "20", pipe])
        let end = try #require(FileHandle(forUpdatingAtPath: pipe))
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        for round in 0..<8 {
            try end.write(contentsOf: Data(Segments.lines(round * 300..<round * 300 + 300).utf8))
            let upload = try Program().start(["upload", "--spool", spool.path, "--to", server.url, "--quiet", "--limit", "5"])
            let copy = try await Program(rsync).run("-aF", spool.path + "/", folder("copy") + "/")
            // 24: some files vanished while they were copied, because they were sent.
            #expect(copy.status == 0 || copy.status == 24, "\(copy.errors)")
            _ = await upload.end()
        }
        writer.send(SIGTERM)
        _ = await writer.end()
        let copy = try Directory.open(folder("copy"))
        for name in try copy.names() {
            #expect(SegmentName(name) != nil, "\(name) was copied")
            #expect(try copy.open(name)?.checkDeeply(inflateLimit: .mebibytes(1)) ?? 0 > 0)
        }
        #expect(try copy.names().count > 3)
    }

    @Test("curl posts a gzip file to the receiver without any header of Ferry's", .needs("curl"))
    func curl() async throws {
        let curl = try #require(Program.find("curl"))
        let hub = try await Hub(folder("hub"))
        let file = Program.fixture("damaged/two-members.jsonl.gz")
        let posted = try await Program(curl).run("-s", "--data-binary", "@\(file)", hub.url)
        #expect(posted.output.contains("\"duplicate\":false"))
        let health = try await Program(curl).run("-s", "http://127.0.0.1:\(hub.port)/healthz")
        #expect(health.output == "ok\n")
        await hub.stop()
        #expect(try Spool.open(folder("hub"), access: .read).scan().entries.count == 1)
    }

    /// Starts a receiver with the certificate that the folder has.
    private func secureReceiver(_ spool: String = "hub") async throws -> (running: Running, port: Substring) {
        let receiver = try Program().start([
            "receive", "--listen", "127.0.0.1:0", "--spool", folder(spool), "--tls-cert", folder("cert.pem"), "--tls-key",
            folder("key.pem"),
        ])
        return (receiver, try await receiver.waitFor("listening on https://127.0.0.1:").prefix { $0.isNumber })
    }

    @Test(
        "TLS: an unknown authority stops the upload, the right one lets it pass, and so does a tunnel through a proxy",
        .needs("openssl"))
    func tls() async throws {
        let openssl = try #require(Program.find("openssl"))
        let made = try await Program(openssl).run(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder("key.pem"), "-out", folder("cert.pem"), "-days",
            "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        #expect(made.status == 0, "\(made.errors)")
        let (receiver, port) = try await secureReceiver()
        let spool = try folder.spool()
        try spool.put(Segments.gzip(Segments.noiseLines(300_000)))
        let url = "https://localhost:\(port)/v1/segments"
        let unknown = try await Program().run("upload", "--spool", spool.path, "--to", url)
        #expect(unknown.status == 77, "\(unknown.errors)")
        #expect(unknown.errors.contains("--ca"), "\(unknown.errors)")
        // The receiver tells of it too, and of who speaks no TLS.
        _ = try await receiver.waitFor("no TLS connection: TLSV1_ALERT_UNKNOWN_CA")
        // Of one address the log has such a line a minute at most: another receiver tells the next one at once.
        let (second, secondPort) = try await secureReceiver("hub2")
        let other = try folder.spool("other")
        try other.put(Segments.gzip("{}\n"))
        let plain = try await Program().run(
            "upload", "--spool", other.path, "--to", "http://localhost:\(secondPort)/v1/segments")
        #expect(plain.status == 75, "\(plain.errors)")
        _ = try await second.waitFor("no TLS connection: HTTP_REQUEST")
        second.send(SIGTERM)
        _ = await second.end()
        let upload = try await Program().run("upload", "--spool", spool.path, "--to", url, "--ca", folder("cert.pem"))
        #expect(upload.status == 0, "\(upload.errors)")

        let proxy = Tunnel.proxy()
        try spool.put(Segments.gzip("{}\n"))
        let tunnelled = try await Program(environment: ["HTTPS_PROXY": "http://u:p@127.0.0.1:\(proxy.port)"]).run(
            "upload", "--spool", spool.path, "--to", url, "--ca", folder("cert.pem"))
        #expect(tunnelled.status == 0, "\(tunnelled.errors)")
        receiver.send(SIGTERM)
        _ = await receiver.end()
    }

    @Test(
        "Behind a tunnel the certificate must be the destination's, not the proxy's", .needs("openssl"),
        arguments: [("127.0.0.2", 0), ("127.0.0.1", 77)] as [(String, Int32)])
    func tunnelToAddress(certified: String, status: Int32) async throws {
        let openssl = try #require(Program.find("openssl"))
        let made = try await Program(openssl).run(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder("key.pem"), "-out", folder("cert.pem"), "-days",
            "2", "-subj", "/CN=hub", "-addext", "subjectAltName=IP:\(certified)")
        #expect(made.status == 0, "\(made.errors)")
        let (receiver, port) = try await secureReceiver()
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"))
        // The proxy is at 127.0.0.1.
        let proxy = Tunnel.proxy()
        let upload = try await Program(environment: ["HTTPS_PROXY": "http://u:p@127.0.0.1:\(proxy.port)"]).run(
            "upload", "--spool", spool.path, "--to", "https://127.0.0.2:\(port)/v1/segments", "--ca", folder("cert.pem"))
        #expect(upload.status == status, "\(upload.errors)")
        receiver.send(SIGTERM)
        _ = await receiver.end()
    }

    @Test(
        "A certificate is for the host of the URL: not for its address, where it is a name, and not by its common name",
        .needs("openssl"),
        arguments: [
            ("IP:127.0.0.1", "localhost", 77), ("DNS:localhost", "localhost", 0), ("DNS:localhost", "127.0.0.1", 77),
            ("IP:127.0.0.1", "127.0.0.1", 0), (nil, "localhost", 77),
        ] as [(String?, String, Int32)])
    func names(certified: String?, host: String, status: Int32) async throws {
        let openssl = try #require(Program.find("openssl"))
        let extensions = certified.map { ["-addext", "subjectAltName=\($0)"] } ?? []
        let made = try await Program(openssl).start(
            [
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder("key.pem"), "-out", folder("cert.pem"),
                "-days",
                "2", "-subj", "/CN=localhost",
            ] + extensions
        ).end()
        #expect(made.status == 0, "\(made.errors)")
        let (receiver, port) = try await secureReceiver()
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"))
        let upload = try await Program().run(
            "upload", "--spool", spool.path, "--to", "https://\(host):\(port)/v1/segments", "--ca", folder("cert.pem"))
        #expect(upload.status == status, "\(upload.errors)")
        if status != 0 {
            let why = certified == nil ? "names no host (subjectAltName)" : "the certificate is for another host"
            #expect(upload.errors.contains(why), "\(upload.errors)")
        }
        receiver.send(SIGTERM)
        _ = await receiver.end()
    }

    @Test("A proxy that wants a password for a tunnel: 77, and what to do")
    func tunnelWithoutPassword() async throws {
        let spool = try folder.spool()
        try spool.put(Segments.gzip("{}\n"))
        let proxy = Tunnel.proxy()
        let upload = try await Program(environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)"]).run(
            "upload", "--spool", spool.path, "--to", "https://hub.example/")
        #expect(upload.status == 77)
        #expect(upload.errors.contains("407"), "\(upload.errors)")
        #expect(upload.errors.contains("name and password into the proxy variable"), "\(upload.errors)")
    }
}
