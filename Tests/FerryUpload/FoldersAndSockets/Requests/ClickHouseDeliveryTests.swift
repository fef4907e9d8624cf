import FerrySpool
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

/// A table of a ClickHouse server as the documentation describes it, as far as Ferry asks: INSERT by HTTP, with a deduplication token.
private final class SmallTable: Sendable {
    let rows = Mutex<[String]>([])
    let requests = Mutex<[ReceivedRequest]>([])
    private let tokens = Mutex<Set<String>>([])
    /// Settings that it does not know.
    private let unknown: [String]

    init(unknown: [String] = []) { self.unknown = unknown }

    static func settings(_ request: ReceivedRequest) -> [String: String] {
        let query = request.line.split(separator: " ")[1].split(separator: "?", maxSplits: 1).last ?? ""
        let pairs = query.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
        return Dictionary(pairs.map { (String($0[0]), String(percentDecoding: String($0[1])) ?? "") }, uniquingKeysWith: { $1 })
    }

    func answer(_ request: ReceivedRequest) -> String {
        requests.withLock { $0.append(request) }
        let settings = Self.settings(request)
        if let name = unknown.first(where: { settings[$0] != nil }) { return Self.exception(404, 115, "Unknown setting \(name)") }
        var lines: [String] = []
        do {
            let file = TemporaryFolder()
            try Data(request.body).write(to: URL(fileURLWithPath: file("body")))
            lines = try Segments.lines(of: OpenFile.reading(file("body")))
        } catch {
            return Self.exception(400, 354, "inflate failed")
        }
        if let bad = lines.firstIndex(where: { $0.contains("bad") }) {
            return Self.exception(400, 27, "Cannot parse input: expected \" before: bad: (at row \(bad + 1))\n")
        }
        // A block that has the token of one before is left out, and answered as if it were not.
        if let token = settings["insert_deduplication_token"], !tokens.withLock({ $0.insert(token).inserted }) {
            return Self.done
        }
        rows.withLock { $0 += lines }
        return Self.done
    }

    static let done = ScriptedServer.answer(200, "X-ClickHouse-Query-Id: 1\r\n")

    static func exception(_ status: Int, _ code: Int, _ message: String) -> String {
        ScriptedServer.answer(
            status, "X-ClickHouse-Exception-Code: \(code)\r\n",
            body: "Code: \(code). DB::Exception: \(message). (NAME) (version 25.8.2.29 (official build))\n")
    }

    /// Of each request.
    var tokenOfEach: [String?] { requests.withLock { $0.map { Self.settings($0)["insert_deduplication_token"] } } }
}

@Suite("Delivery into a table of ClickHouse") struct ClickHouseDeliveryTests {
    private let folder = TemporaryFolder()

    private func options(
        _ server: ScriptedServer, _ query: String = "", credentials: String? = nil, joined: Bool = false
    ) throws -> UploadOptions {
        var options = UploadOptions(
            destination: try Destination(
                "clickhouse://127.0.0.1:\(server.port)/db.events\(query)", environment: [:], credentialsFile: credentials))
        options.parallel = 1
        options.ignoresWaits = true
        if joined { options.coalesce = .upTo(.mebibytes(1)) }
        return options
    }

    private func spool(_ segments: [String]) throws -> Spool {
        let spool = try folder.spool()
        for (second, text) in segments.enumerated() { try spool.put(Segments.gzip(text), as: Segments.name(second: second)) }
        return spool
    }

    @Test("A segment is one INSERT: its file as it is, under its key, with the user in the header") func insert() async throws {
        let table = SmallTable()
        let server = ScriptedServer.answering { table.answer($0) }
        let path = folder("credentials")
        try "user = ferry\npassword = se cret\n".write(toFile: path, atomically: true, encoding: .utf8)
        let spool = try folder.spool()
        let name = Segments.name(3)
        let bytes = Segments.gzip(Segments.lines(0..<3))
        try spool.put(bytes, as: name)
        let report = try await UploadPass(spool, options: options(server, "?max_threads=2", credentials: path)).run()
        #expect(report.sent.segments == 1)
        let request = try #require(table.requests.withLock { $0.first })
        #expect(
            request.line.hasPrefix("POST /?query=INSERT%20INTO%20%60db%60.%60events%60%20FORMAT%20JSONEachRow&max_threads=2&"))
        #expect(SmallTable.settings(request)["insert_deduplication_token"] == name.id)
        #expect(request["content-encoding"] == "gzip")
        #expect(request["x-clickhouse-user"] == "ferry")
        #expect(request["x-clickhouse-key"] == "se cret")
        #expect(request["idempotency-key"] == nil)
        #expect(request.body == Array(bytes))
        let ledger = try spool.ledger.totals()
        #expect(ledger[.sent].segments == 1)
    }

    @Test("When the answer is lost, the server knows the segment by its token: its rows are there once") func lostAnswer()
        async throws
    {
        let table = SmallTable()
        let lost = Mutex(false)
        let server = ScriptedServer { peer in
            while let request = peer.request() {
                let answer = table.answer(request)
                let isFirst = lost.withLock { lost in
                    defer { lost = true }
                    return !lost
                }
                if isFirst { return peer.shutDown() }
                if !peer.send(answer) { return }
            }
        }
        let spool = try spool([Segments.lines(0..<3)])
        for _ in 0..<3 where try spool.scan().entries.isEmpty == false {
            _ = try await UploadPass(spool, options: options(server)).run()
        }
        #expect(try spool.scan().entries.isEmpty)
        #expect(table.requests.withLock(\.count) == 2)
        #expect(table.rows.withLock(\.count) == 3)
    }

    @Test("Joined segments are one INSERT under one token, and made again as they were when its answer is lost") func joined()
        async throws
    {
        let table = SmallTable()
        let lost = Mutex(false)
        let server = ScriptedServer { peer in
            while let request = peer.request() {
                let answer = table.answer(request)
                let isFirst = lost.withLock { lost in
                    defer { lost = true }
                    return !lost
                }
                if isFirst { return peer.shutDown() }
                if !peer.send(answer) { return }
            }
        }
        let spool = try spool((0..<20).map { Segments.lines($0..<$0 + 1) })
        for _ in 0..<3 where try spool.scan().entries.isEmpty == false {
            _ = try await UploadPass(spool, options: options(server, joined: true)).run()
        }
        #expect(try spool.scan().entries.isEmpty)
        #expect(table.rows.withLock { $0.sorted() } == (0..<20).map { "{\"n\":\($0)}" }.sorted())
        let tokens = table.tokenOfEach
        #expect(tokens.count == 2)
        #expect(tokens[0] == tokens[1])
    }

    @Test("Of joined segments of which one is refused each goes out by itself: the bad one alone is rejected, with its row")
    func refused() async throws {
        let table = SmallTable()
        let server = ScriptedServer.answering { table.answer($0) }
        let spool = try spool([Segments.lines(0..<2), "{\"n\":2}\n{\"n\":\"bad\"}\n", Segments.lines(4..<6)])
        let report = try await UploadPass(spool, options: options(server, joined: true)).run()
        #expect(report.sent.segments == 2)
        #expect(table.rows.withLock { $0.sorted() } == [0, 1, 4, 5].map { "{\"n\":\($0)}" })
        let rejected = try spool.rejected.segments()
        #expect(rejected.count == 1)
        let reason = try #require(rejected.first?.reason)
        #expect(reason.message.contains("code 27 in row 2"), "\(reason.message)")
    }

    @Test("A server that is older than the token is asked without, and one line says so", arguments: [1, 3])
    func oldServer(parallel: Int) async throws {
        let table = SmallTable(unknown: ["insert_deduplication_token", "date_time_input_format"])
        let server = ScriptedServer.answering { table.answer($0) }
        let spool = try spool((0..<9).map { Segments.lines($0..<$0 + 1) })
        var options = try options(server)
        options.parallel = parallel
        let told = Mutex<[String]>([])
        let report = try await UploadPass(
            spool, options: options,
            onEvent: { event in if case .warning(let text) = event { told.withLock { $0.append(text) } } }
        ).run()
        #expect(report.sent.segments == 9)
        #expect(table.rows.withLock(\.count) == 9)
        #expect(told.withLock(\.count) == 1)
        #expect(told.withLock { $0.first?.contains("cannot tell what it has had before") ?? false })
        if parallel == 1 { #expect(table.requests.withLock(\.count) == 9 + 2) }
    }

    @Test("After an hour a server is asked anew whether it knows tokens: it may be another one") func renewedServer() async throws
    {
        let (old, renewed) = (SmallTable(unknown: ["insert_deduplication_token"]), SmallTable())
        let asked = Mutex<[ReceivedRequest]>([])
        let server = ScriptedServer.answering { request in
            let count = asked.withLock { asked in
                asked.append(request)
                return asked.count
            }
            return (count <= 2 ? old : renewed).answer(request)
        }
        let spool = try spool((0..<3).map { Segments.lines($0..<$0 + 1) })
        let report = try await UploadPass(
            spool, options: options(server), now: { .now() + .seconds(asked.withLock(\.count) < 2 ? 0 : 3700) }
        ).run()
        #expect(report.sent.segments == 3)
        let areSaid = asked.withLock { $0.map { SmallTable.settings($0)["insert_deduplication_token"] != nil } }
        #expect(areSaid == [true, false, true, true])
    }

    @Test("An exception within a 200 delivers nothing") func exceptionWithin200() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200, "X-ClickHouse-Exception-Code: 209\r\n") }
        let spool = try spool([Segments.lines(0..<3)])
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(report.sent.segments == 0)
        #expect(report.remaining == 1)
        guard case .unavailable = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
    }

    @Test("A look asks for no row, and says what the server says", arguments: [0, 60, 516]) func look(_ code: Int) async throws {
        let asked = Mutex("")
        let encoding = Mutex<String?>(nil)
        let server = ScriptedServer.answering { request in
            asked.withLock { $0 = request.line }
            encoding.withLock { $0 = request["content-encoding"] }
            return code == 0
                ? ScriptedServer.answer(200, "X-ClickHouse-Query-Id: a\r\n") : SmallTable.exception(404, code, "no")
        }
        let check = try await DestinationLook(options(server)).run()
        if code == 0 {
            #expect(check == .good("the table is there, and may be read"))
        } else {
            guard case .bad(let text) = check else { return #expect(Bool(false), "\(check)") }
            #expect(text.contains("code \(code)"))
        }
        #expect(asked.withLock { $0.contains("LIMIT%200") })
        // Servers of 18 inflate the body that is not there.
        #expect(encoding.withLock { $0 } == nil)
    }

    @Test("A user who may only insert is let in: a look says no more") func insertOnly() async throws {
        let server = ScriptedServer.answering { _ in
            SmallTable.exception(403, 497, "ferry: Not enough privileges. To execute this query it's necessary to have SELECT")
        }
        guard case .unclear(let text) = try await DestinationLook(options(server)).run() else {
            return #expect(Bool(false), "it is judged")
        }
        #expect(text.contains("whether it may INSERT"))
    }

    @Test(
        "An answer that is cut off delivers nothing: an exception may have been to come",
        arguments: ["Content-Length: 90\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"])
    func cutOff(_ rest: String) async throws {
        let server = ScriptedServer { peer in
            while peer.request() != nil {
                peer.send("HTTP/1.1 200 OK\r\nX-ClickHouse-Query-Id: a\r\n\(rest)")
                return
            }
        }
        let spool = try spool([Segments.lines(0..<3)])
        let report = try await UploadPass(spool, options: options(server)).run()
        #expect(report.sent.segments == 0)
        #expect(report.remaining == 1)
    }

    @Test("What may be in the table already, joined, is asked for as it was") func interrupted() async throws {
        let table = SmallTable()
        let isFirst = Mutex(true)
        let server = ScriptedServer.answering { request in
            let answer = table.answer(request)
            let isFirst = isFirst.withLock { first in
                defer { first = false }
                return first
            }
            return isFirst ? SmallTable.exception(500, 319, "Unknown status, client must retry") : answer
        }
        let spool = try spool((0..<4).map { Segments.lines($0..<$0 + 1) })
        #expect(try await UploadPass(spool, options: options(server, joined: true)).run().remaining == 4)
        // More would have gone out with them.
        for second in 4..<6 {
            try spool.put(Segments.gzip(Segments.lines(second..<second + 1)), as: Segments.name(second: second))
        }
        #expect(try await UploadPass(spool, options: options(server, joined: true)).run().sent.segments == 6)
        #expect(Set(table.tokenOfEach).count == 2)
        #expect(table.rows.withLock(\.count) == 6)
    }

    @Test("A password that was replaced works at once") func mendedPassword() async throws {
        let table = SmallTable()
        let path = folder("credentials")
        func write(_ password: String) throws {
            try "user = ferry\npassword = \(password)\n".write(toFile: path, atomically: true, encoding: .utf8)
        }
        try write("old")
        let server = ScriptedServer.answering { request in
            guard request["x-clickhouse-key"] == "new" else {
                return SmallTable.exception(403, 516, "ferry: Authentication failed")
            }
            return table.answer(request)
        }
        let options = try options(server, credentials: path)
        try write("new")
        let spool = try spool([Segments.lines(0..<3)])
        #expect(try await UploadPass(spool, options: options).run().sent.segments == 1)
    }

    @Test("A password that comes back in an answer is not told", arguments: [400, 404, 500]) func echoed(status: Int) async throws
    {
        let path = folder("credentials")
        try "user = ferry\npassword = SECRET\n".write(toFile: path, atomically: true, encoding: .utf8)
        let server = ScriptedServer.answering { request in
            SmallTable.exception(status, 27, "got header X-ClickHouse-Key: \(request["x-clickhouse-key"] ?? "")")
        }
        let spool = try spool([Segments.lines(0..<3)])
        let events = Mutex("")
        _ = try await UploadPass(
            spool, options: options(server, credentials: path), onEvent: { event in events.withLock { $0 += "\(event)" } }
        ).run()
        #expect(events.withLock { $0.contains("X-ClickHouse-Key: …") })
        #expect(!events.withLock { $0.contains("SECRET") })
        let stored = try FileManager.default.subpathsOfDirectory(atPath: folder("spool")).filter {
            FileManager.default.contents(atPath: folder("spool/\($0)"))?.firstRange(of: Data("SECRET".utf8)) != nil
        }
        #expect(stored == [])
    }

    @Test("A redirect stops Ferry, and is not followed: statement and password stay here") func redirected() async throws {
        let other = Mutex(0)
        let elsewhere = ScriptedServer.answering { _ in
            other.withLock { $0 += 1 }
            return SmallTable.done
        }
        let server = ScriptedServer.answering { _ in
            ScriptedServer.answer(307, "Location: http://127.0.0.1:\(elsewhere.port)/\r\n")
        }
        let spool = try spool([Segments.lines(0..<3)])
        let report = try await UploadPass(spool, options: options(server)).run()
        guard case .misconfigured = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(report.remaining == 1)
        #expect(other.withLock { $0 } == 0)
    }

    @Test("Another server that answers 200 ends nothing") func otherServer() async throws {
        let server = ScriptedServer.answering { _ in ScriptedServer.answer(200) }
        let spool = try spool([Segments.lines(0..<3)])
        let report = try await UploadPass(spool, options: options(server)).run()
        guard case .misconfigured(let reason) = report.stopReason else {
            return #expect(Bool(false), "\(String(describing: report.stopReason))")
        }
        #expect(reason.message.contains("this is no answer of ClickHouse"))
        #expect(report.remaining == 1)
    }
}
