import FerrySpool
import Foundation
import TestSupport

@testable import ferry

/// Hubs for the page's tests: folders with machines' spools.
struct HubFixture {
    static let hostile =
        "</pre><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u{1b}[31m\u{202e}gnp"

    let folder: TemporaryFolder
    var path: String { folder("hub") }

    init(_ folder: TemporaryFolder) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        // No machine may send yet.
        try Data().write(to: URL(filePath: "\(path)/.machines.jsonl"))
    }

    /// A machine that works: its history, its ledger, and a segment that came just now.
    @discardableResult
    func addHealthy(_ name: String) throws -> Spool {
        let spool = try folder.spool("hub/\(name)")
        let now = Timestamp.now()
        var history = SpoolHistory(at: HistoryMinute(now))
        for minute in -1440...0 {
            history.note(
                HistoryStep(oldest: .seconds(20), bytes: ByteCount(Int64(90_000 + minute * 50))), at: HistoryMinute(now) + minute)
        }
        try spool.directory.replace(".ferry/history", with: history.bytes, durable: false)
        try spool.put(
            Segments.gzip("{\"n\":1}\n"),
            as: SegmentName(priority: .normal, created: now - .seconds(30), id: SegmentID.random().text)!)
        let line = LedgerEntry(
            at: now - .seconds(90), segment: "5-20261121T031502.123Z-8f3k2m9qx7wd4t1c.jsonl.gz", outcome: .sent,
            bytes: ByteCount(90),
            events: 1, status: 200, attempts: 1, destination: "https://hub.example/v1/segments")
        try line.text.write(
            toFile: folder("hub/\(name)/.ferry/ledger-\(line.at.compactDay).jsonl"), atomically: false, encoding: .utf8)
        return spool
    }

    /// A machine whose segment was rejected, and says hostile things in each place.
    func addHostile(_ name: String) throws {
        let spool = try addHealthy(name)
        let rejected = folder("hub/\(name)/rejected")
        try FileManager.default.createDirectory(atPath: rejected, withIntermediateDirectories: true)
        let segment = "5-20261121T031502.123Z-8f3k2m9qx7wd4t1d.jsonl.gz"
        try Data(Segments.gzip("{\"a\":\"\(Self.hostile)\"}\n")).write(to: URL(filePath: "\(rejected)/\(segment)"))
        let reason = RejectionReason(
            at: .now(), kind: "status", status: 422, message: Self.hostile + String(repeating: "x", count: 900_000), attempts: 1,
            body: Self.hostile)
        try JSONEncoder().encode(reason).write(to: URL(filePath: "\(rejected)/\(segment).reason.json"))
        _ = spool
    }
}

extension LedgerEntry {
    /// As the ledger has it.
    fileprivate var text: String {
        "{\"at\":\"\(at.rfc3339)\",\"segment\":\"\(segment)\",\"outcome\":\"\(outcome.rawValue)\",\"bytes\":\(bytes.bytes),\"status\":200,"
            + "\"attempts\":1,\"destination\":\"\(destination ?? "")\"}\n"
    }
}

/// `ferry receive` with a page.
struct PageServer {
    let running: Running
    let port: Int

    var url: String { "http://127.0.0.1:\(port)/" }

    init(hub: String, _ more: [String] = []) async throws {
        running = try Program().start(
            ["receive", "--listen", "127.0.0.1:0", "--machines", hub, "--dashboard", "127.0.0.1:\(LoopbackPort.own())"] + more)
        let line = try await running.waitFor("the page is at http://127.0.0.1:")
        port = Int(line.prefix { $0.isNumber }) ?? 0
    }

    func stop() async {
        running.send(SIGTERM)
        _ = await running.end()
    }

    /// Makes a request on a connection of its own, and returns the answer with its head.
    func answer(_ head: String, _ headers: [String] = [], host: String? = nil, body: String = "") async throws -> String {
        let client = try RawClient(port: port)
        var fields = headers + ["Host: \(host ?? "127.0.0.1:\(port)")", "Connection: close"]
        if !body.isEmpty { fields.append("Content-Length: \(body.utf8.count)") }
        client.send("\(head) HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n\(body)")
        return await client.answer()
    }
}
