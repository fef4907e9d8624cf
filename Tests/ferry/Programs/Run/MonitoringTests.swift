import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("What monitoring reads of ferry run and ferry receive")
struct MonitoringTests {
    private let folder = TemporaryFolder()
    private let ferry = Program()
    private static let rules = Program.checkout + "/packaging/prometheus/ferry.rules.yml"
    private static let dashboard = Program.checkout + "/packaging/grafana/ferry.json"

    /// The names of metrics in some text.
    private static func names(in text: String) -> Set<String> {
        Set(text.matches(of: /ferry_[a-z_]+/).map { String($0.output) })
    }

    /// Returns what a program shows at its metrics address.
    private func metrics(of running: Running) async throws -> String {
        let curl = try #require(Program.find("curl"))
        let url = "http://127.0.0.1:" + (try await running.waitFor("metrics at http://127.0.0.1:"))
        return try await Program(curl).run("-sS", url).output
    }

    @Test("Every metric that the alert rules and the dashboard name is one of ferry run or ferry receive", .needs("curl"))
    func names() async throws {
        _ = try folder.spool()
        let machine = try await ferry.run("machine", "add", "--machines", folder("hub"), "a")
        #expect(machine.status == 0, "\(machine.errors)")
        let receive = try ferry.start([
            "receive", "--machines", folder("hub"), "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0",
        ])
        let run = try ferry.start([
            "run", "--spool", folder("spool"), "--to", "http://127.0.0.1:9/", "--set", "metrics.listen=127.0.0.1:0",
        ])
        var shown: Set<String> = []
        for text in [try await metrics(of: receive), try await metrics(of: run)] {
            for line in text.split(separator: "\n") where line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                let suffixes = words[3] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                for suffix in suffixes { shown.insert("\(words[2])\(suffix)") }
            }
            #expect(text.contains("\nferry_silent{"), "\(text)")
            #expect(text.contains("\nferry_pending_segments{"), "\(text)")
            #expect(text.contains("\nferry_segments_in_rejected{"), "\(text)")
            #expect(text.contains("\nferry_disk_free_bytes{"), "\(text)")
        }
        let rules = try String(contentsOfFile: Self.rules, encoding: .utf8)
        let expressions = rules.split(separator: "- alert:").dropFirst().compactMap { $0.split(separator: "labels:").first }
        let alerted = Self.names(in: expressions.joined())
        #expect(alerted.count >= 9)
        #expect(alerted.isSubset(of: shown), "\(alerted.subtracting(shown))")
        let data = try Data(contentsOf: URL(filePath: Self.dashboard))
        let dashboard = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(dashboard["panels"] as? [[String: Any]])
        let targets = panels.flatMap { $0["targets"] as? [[String: Any]] ?? [] }
        let drawn = Self.names(in: targets.compactMap { $0["expr"] as? String }.joined(separator: " "))
        #expect(drawn.count >= 12)
        #expect(drawn.isSubset(of: shown), "\(drawn.subtracting(shown))")
        for running in [run, receive] {
            running.send(SIGTERM)
            _ = await running.end()
        }
    }

    @Test("The documentation has each alert, with the metrics of its rule, and no other")
    func documentedAlerts() throws {
        let rules = try String(contentsOfFile: Self.rules, encoding: .utf8)
        let alerts = rules.split(separator: "- alert:").dropFirst().map { rule -> (name: String, metrics: Set<String>) in
            let expression = rule.split(separator: "expr:").last?.split(separator: "labels:").first ?? ""
            return (String(rule.prefix { $0 != "\n" }).filter { $0 != " " }, Self.names(in: String(expression)))
        }
        let page = try String(contentsOfFile: Program.checkout + "/docs/operations.md", encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `Ferry") }
        let documented = rows.map { row -> (name: String, metrics: Set<String>) in
            let cells = row.split(separator: "|")
            return (cells[0].filter { $0 != "`" && $0 != " " }, Self.names(in: String(cells[1])))
        }
        #expect(documented.map(\.name) == alerts.map(\.name))
        for (alert, row) in zip(alerts, documented) { #expect(row.metrics == alert.metrics, "\(alert.name)") }
        #expect(alerts.count >= 11)
    }

    @Test("Prometheus takes the alert rules, and raises each where it should, and none where all is well", .needs("promtool"))
    func rules() async throws {
        let promtool = try #require(Program.find("promtool"))
        let check = try await Program(promtool).run("check", "rules", Self.rules)
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        let test = try await Program(promtool).run(
            "test", "rules", Program.checkout + "/packaging/prometheus/ferry.rules.test.yml")
        #expect(test.status == 0, "\(test.output)\(test.errors)")
    }

    @Test(
        "Of an outage that several spools wait for the log has a line when it begins and one when it is over, each with time and level"
    )
    func outage() async throws {
        for spool in ["spools/a", "spools/b", "spools/c"] {
            let written = try await ferry.run("write", "--create", "--spool", folder(spool), input: "1\n")
            #expect(written.status == 0, "\(written.errors)")
        }
        let port = LoopbackPort.own()
        let run = try ferry.start([
            "run", "--spool", folder("spools/*"), "--to", "http://127.0.0.1:\(port)/v1/segments",
        ])
        _ = try await run.waitFor(": waiting until ")
        let hub = try await Hub(folder("hub"), port: port)
        run.send(SIGUSR1)
        _ = try await run.waitFor(": delivers again, after ")
        try await eventually("all are sent") { try Spool.open(folder("hub"), access: .read).events(in: [.pending]).count == 3 }
        run.send(SIGTERM)
        let end = await run.end()
        #expect(end.status == 0)
        let lines = end.errors.split(separator: "\n")
        #expect(lines.count { $0.contains(": waiting until ") } == 1, "\(end.errors)")
        #expect(lines.count { $0.contains(": delivers again, after ") } == 1, "\(end.errors)")
        #expect(lines.count { $0.contains(": sending") } == 0, "\(end.errors)")
        #expect(
            lines.contains { $0.contains("delivered 3 segments (3 events, ") && $0.contains(" from 3 spools: ") }, "\(end.errors)"
        )
        let begin = #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ferry: (notice|warning): /#
        for line in lines { #expect(line.prefixMatch(of: begin) != nil, "\(line)") }
        await hub.stop()
    }
}
