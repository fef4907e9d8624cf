import FerrySpool
import Foundation
import TestSupport
import Testing

@Suite("Into a table of ClickHouse", .serialized) struct ClickHouseTests {
    private let folder = TemporaryFolder()

    /// Makes a table, and a spool of segments with five rows each.
    private func prepare(_ click: ClickHouse, _ segments: Range<Int>, _ table: String) async throws -> Spool {
        try await click.query("CREATE TABLE \(table) (n UInt64, at DateTime, name String) ENGINE = MergeTree ORDER BY n")
        let spool = try folder.spool(table)
        for second in segments {
            let rows = (second * 5..<second * 5 + 5).map { "{\"n\":\($0),\"at\":\"2026-11-21T03:00:00.123Z\",\"name\":\"é\"}\n" }
            try spool.put(Segments.gzip(rows.joined()), as: Segments.name(second: second))
        }
        return spool
    }

    private func upload(
        _ spool: Spool, _ click: ClickHouse, _ place: String, _ more: [String] = [], _ changes: [String: String] = [:]
    ) async throws -> Program.Result {
        try await Program(environment: click.environment.merging(changes) { $1 }).start(
            ["upload", "--retry-now", "--spool", spool.path, "--to", "clickhouse://127.0.0.1:\(click.port)/\(place)"] + more
        ).end()
    }

    @Test(
        "Uploader and server are killed again and again: no row is missing", .needs("clickhouse-server", "curl"),
        arguments: [[], ["--coalesce", "1KiB"]]) func kills(more: [String]) async throws
    {
        let click = try await ClickHouse()
        let spool = try await prepare(click, 0..<400, "killed")
        let place = "clickhouse://127.0.0.1:\(click.port)/default.killed"
        var random = Seeded(seed: 14)
        var hits = 0
        for round in 0..<9 {
            let before = try spool.scan().entries.count
            if before < 40 { break }
            let upload = try Program(environment: click.environment).start(
                ["upload", "--quiet", "--retry-now", "--bandwidth", "10kB", "--spool", spool.path, "--to", place] + more)
            try await eventually("something leaves") { try spool.scan().entries.count < before }
            try await Task.sleep(for: .milliseconds(Int.random(in: 0..<40, using: &random)))
            if round % 3 == 2 {
                await click.kill()
                _ = await upload.end()
                try await click.start()
            } else {
                upload.send(SIGKILL)
                if await upload.end().status == SIGKILL { hits += 1 }
            }
        }
        #expect(hits > 1)
        // A server that was just killed may put some off: 75 asks for another call.
        var last: Program.Result?
        for _ in 0..<10 where last?.status ?? 75 == 75 { last = try await upload(spool, click, "default.killed", more) }
        #expect(last?.status == 0, "\(last?.errors ?? "")")
        #expect(try spool.scan().entries.isEmpty)
        // This server knows no tokens: what it had, and whose answer was lost, it may have twice.
        #expect(try await click.query("SELECT uniqExact(n), min(n), max(n) FROM killed") == "2000\t0\t1999")
    }

    @Test(
        "Without a fault each row is there once, in one request a segment and in joined ones",
        .needs("clickhouse-server", "curl")) func exact() async throws
    {
        let click = try await ClickHouse()
        for (table, more) in [("single", []), ("joined", ["--coalesce", "1MiB"])] {
            let spool = try await prepare(click, 0..<200, table)
            let result = try await upload(spool, click, "default.\(table)?max_threads=2", more)
            #expect(result.status == 0, "\(result.errors)")
            // Said once, however often something goes out.
            #expect(result.errors.components(separatedBy: "cannot tell what it has had before").count == 2, "\(result.errors)")
            #expect(try await click.query("SELECT count(), uniqExact(n), uniqExact(name) FROM \(table)") == "1000\t1000\t1")
            #expect(try await click.query("SELECT DISTINCT toString(at) FROM \(table)") == "2026-11-21 03:00:00")
        }
        // Each request makes a part.
        #expect(Int(try await click.query("SELECT count() FROM system.parts WHERE table = 'joined'")).map { $0 < 20 } ?? false)
    }

    @Test("Ferry says what the server says, with its code, and loses nothing", .needs("clickhouse-server", "curl"))
    func mistakes() async throws {
        let click = try await ClickHouse()
        let spool = try await prepare(click, 0..<2, "right")
        try await click.query("CREATE TABLE narrow (n UInt64) ENGINE = MergeTree ORDER BY n")
        for (place, changes, status, said) in [
            ("default.missing", [:], 77, "code 60, Table default.missing doesn't exist"),
            ("nowhere.right", [:], 77, "code 81, "),
            ("default.narrow", [:], 77, "code 117 in row 1, Unknown field found while parsing JSONEachRow format: at"),
            ("system.numbers", [:], 77, "code 48, "),
            ("default.right?colour=1", [:], 77, "code 115, Unknown setting colour"),
            ("default.right", ["CLICKHOUSE_PASSWORD": "wrong"], 77, "code 193, Wrong password"),
            ("default.right", ["CLICKHOUSE_USER": "stranger"], 77, "code 192, Unknown user"),
            ("default.right?max_memory_usage=1", [:], 75, "code 241, Memory limit"),
        ] as [(String, [String: String], Int32, String)] {
            let result = try await upload(spool, click, place, [], changes)
            #expect(result.status == status, "\(place): \(result.errors)")
            #expect(result.errors.contains(said), "\(place): \(result.errors)")
            #expect(try spool.scan().entries.count == 2, "\(place)")
        }
        let native = try await Program(environment: click.environment).run(
            "upload", "--retry-now", "--spool", spool.path, "--to", "clickhouse://127.0.0.1:\(click.nativePort)/default.right")
        #expect(native.status == 77)
        #expect(native.errors.contains("You must use port \(click.port) for HTTP"), "\(native.errors)")
        let last = try await upload(spool, click, "default.right")
        #expect(last.status == 0, "\(last.errors)")
        let skipping = try await prepare(click, 0..<2, "again")
        #expect(try await upload(skipping, click, "default.narrow?input_format_skip_unknown_fields=1").status == 0)
        #expect(try await click.query("SELECT count() FROM right") == "10")
        #expect(try await click.query("SELECT count() FROM narrow") == "10")
    }

    @Test(
        "A segment with a bad row goes to rejected/ with that row, and none of it into the table; the others arrive",
        .needs("clickhouse-server", "curl"), arguments: [[], ["--coalesce", "1MiB"]]) func badRow(more: [String]) async throws
    {
        let click = try await ClickHouse()
        let spool = try await prepare(click, 0..<10, "strict")
        let bad = "{\"n\":100}\n{\"n\":\"many\"}\n{\"n\":102}\n"
        try spool.put(Segments.gzip(bad), as: Segments.name(second: 5))
        let result = try await upload(spool, click, "default.strict", more)
        #expect(result.status != 0)
        #expect(try spool.scan().entries.isEmpty)
        let rejected = try spool.rejected.segments()
        #expect(rejected.count == 1)
        #expect(rejected.first?.reason?.message.contains("code 27 in row 2, Cannot parse input") ?? false)
        #expect(try await click.query("SELECT count(), max(n) FROM strict") == "50\t49")
    }
}
