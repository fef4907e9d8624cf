import FerrySpool
import Foundation
import TestSupport
import Testing

/// Names, reasons, answers, headers and URLs come from other machines, and stand in what a terminal, a browser, a log and Prometheus read.
@Suite("What other machines say is shown, and obeyed by nothing")
struct HostileTextTests {
    private let folder = TemporaryFolder()
    private let program = Program()

    /// Commands of terminals, marks of direction, markup, and what ends a label, a JSON text or a line.
    private static let hostile =
        "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}1m\u{202e}\u{2066}\u{85}\u{2028}</script><img src=x onerror=\"f()\">'&{}\\"
    private static let name = hostile.replacing("/", with: "") + "\n\r"

    /// Without the controls, which HTTP does not take in a head.
    private static let inHeads = String(String.UnicodeScalarView(hostile.unicodeScalars.filter { $0.value >= 0x20 }))

    /// What a text holds that a reader would obey, or that has no end.
    private static func faults(_ text: String) -> [String] {
        var faults: [String] = []
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x0a, 0x09, 0x20...0x7e: continue
            case 0...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069:
                faults.append("U+\(String(scalar.value, radix: 16))")
            default: continue
            }
        }
        return faults
    }

    private static func markup(_ text: String) -> Bool { text.contains("<img") }

    /// A hub whose machines have hostile names and contents, one of them no UTF-8.
    private func fill() throws {
        for machine in ["hub/\(Self.name)", "hub/plain"] {
            let spool = try folder.spool(machine)
            let line = "{\"markup\":\(Self.hostile.jsonQuoted)}\n"
            try spool.put(Segments.gzip(line), as: Segments.name(second: 1))
            try spool.directory.replace("x\(Self.name).jsonl.gz", with: Segments.gzip(line), durable: false)
            try spool.directory.replace("y\(Self.name).txt", with: Array("x".utf8), durable: false)
        }
        for path in [folder("hub/m") + "\u{1}", folder("hub/plain/z") + "\u{1}.jsonl.gz"] {
            // The last byte but the ending's is no UTF-8.
            let bytes = path.utf8.map { $0 == 1 ? CChar(bitPattern: 0xff) : CChar(bitPattern: $0) } + [0]
            if path.hasSuffix("gz") { close(open(bytes, O_WRONLY | O_CREAT, 0o600)) } else { mkdir(bytes, 0o700) }
        }
    }

    /// A server that refuses each segment, and has much to say about it.
    private func refusing() -> ScriptedServer {
        let body = Self.hostile + String(repeating: "x", count: 1_000_000)
        let said = Self.inHeads
        return .answering { _ in
            "HTTP/1.1 422 \(said)\r\nX-Note: \(said)\r\nServer: \(said)\r\nContent-Type: \(said)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }
    }

    @Test(
        "of a destination that refuses: in the log, the metrics, the page, status, list and report", arguments: ["text", "json"])
    func refused(format: String) async throws {
        try fill()
        let server = refusing()
        let run = try program.start([
            "run", "--spool", folder("hub/*"), "--to",
            server.url + "?a=%1b%0a</script><img%20src=x>'&b",
            "--log-format", format, "--set", "metrics.listen=127.0.0.1:\(LoopbackPort.own())", "--dashboard",
            "127.0.0.1:\(LoopbackPort.own())",
        ])
        let metricsPort = try await run.waitFor("metrics at http://127.0.0.1:").prefix { $0.isNumber }
        let pagePort = try await run.waitFor("the page is at http://127.0.0.1:").prefix { $0.isNumber }
        try await eventually("all are rejected") {
            try ["hub/\(Self.name)", "hub/plain"].allSatisfy { try Spool.open(folder($0), access: .read).pending().isEmpty }
        }
        let curl = try #require(Program.find("curl"))
        let metrics = try await Program(curl).run("-sS", "http://127.0.0.1:\(metricsPort)/metrics").output
        let page = try await Program(curl).run("-sS", "http://127.0.0.1:\(pagePort)/").output
        run.send(SIGTERM)
        let log = await run.end()
        var shown = ["log": log.errors + log.output, "metrics": metrics]
        for command in [["status"], ["status", "--json"], ["report", "--text"], ["list"], ["list", "--json"], ["verify"]] {
            for spool in [folder("hub/*"), folder("hub/\(Self.name)"), folder("hub/plain")] {
                let result = try await program.start(command + ["--spool", spool]).end()
                #expect(result.status < 128, "\(command): \(result.errors)")
                shown["\(command) \(spool.debugDescription)"] = result.output + result.errors
            }
        }
        for (what, text) in shown {
            #expect(Self.faults(text).isEmpty, "\(what): \(text.debugDescription.prefix(3000))")
            let longest = text.split(separator: "\n").map(\.utf8.count).max() ?? 0
            #expect(longest < 20_000, "\(what) has a line of \(longest) bytes")
        }
        for (what, text) in ["page": page, "file": try await report()] {
            #expect(Self.faults(text).isEmpty, "\(what)")
            #expect(!Self.markup(text), "\(what)")
            #expect(text.contains("img src=x"), "\(what) shows what was said")
            #expect(text.utf8.count < 500_000, "\(what)")
        }
        #expect(metrics.split(separator: "\n").allSatisfy { $0.hasPrefix("# ") || $0.hasPrefix("ferry_") })
        if format == "json" {
            for line in log.errors.split(separator: "\n") {
                #expect((try? JSONSerialization.jsonObject(with: Data(line.utf8))) != nil, "\(line)")
            }
        }
    }

    private func report() async throws -> String {
        let result = try await program.run("report", folder("hub/*"), "--html", folder("report.html"))
        #expect(result.status < 128, "\(result.errors)")
        return try String(contentsOfFile: folder("report.html"), encoding: .utf8)
    }

    @Test("of a client of a hub: in the log and the metrics")
    func received() async throws {
        _ = try folder.spool()
        let receive = try program.start([
            "receive", "--spool", folder("spool"), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
        ])
        let metricsPort = try await receive.waitFor("metrics at http://127.0.0.1:").prefix { $0.isNumber }
        let port = Int(try await receive.waitFor("listening on http://127.0.0.1:").prefix { $0.isNumber }) ?? 0
        let body = Array(Segments.gzip("{\"a\":1}\n"))
        let names = [
            "Idempotency-Key", "Ferry-Spool", "Ferry-Stream", "Ferry-Segment", "Ferry-Created", "Ferry-Via", "User-Agent",
            "X-Forwarded-For", "Authorization",
        ]
        for (path, name) in names.map({ ("/v1/segments", $0) }) + [
            ("/%1b%5b2J%0a/<img>", "X-A"), ("/v1/segments?m=%1b%0a<img>", "X-A"),
        ] {
            let client = try RawClient(port: port)
            client.send(
                "POST \(path) HTTP/1.1\r\nHost: x\r\n\(name): \(Self.inHeads)\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
            )
            client.send(body)
            _ = await client.answer()
        }
        for bad in ["{\"a\":\"\u{1b}[2J\"}\n", Self.hostile + "\n"] {
            let client = try RawClient(port: port)
            let body = Array(Segments.gzip(bad))
            client.send("POST /v1/segments HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n")
            client.send(body)
            let answer = await client.answer()
            #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer.prefix(300))")
        }
        let curl = try #require(Program.find("curl"))
        let metrics = try await Program(curl).run("-sS", "http://127.0.0.1:\(metricsPort)/metrics").output
        receive.send(SIGTERM)
        let log = await receive.end()
        for (what, text) in ["log": log.errors + log.output, "metrics": metrics] {
            #expect(Self.faults(text).isEmpty, "\(what): \(text.debugDescription.prefix(3000))")
            let longest = text.split(separator: "\n").map(\.utf8.count).max() ?? 0
            #expect(longest < 20_000, "\(what) has a line of \(longest) bytes")
        }
        #expect(metrics.split(separator: "\n").allSatisfy { $0.hasPrefix("# ") || $0.hasPrefix("ferry_") })
    }
}
