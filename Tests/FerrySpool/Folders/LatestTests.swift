import Foundation
import TestSupport
import Testing

@testable import FerrySpool

@Suite("What came last: lines of the ledger, and rejected segments")
struct LatestTests {
    private let folder = TemporaryFolder()
    private let time = Timestamp(rfc3339: "2026-11-21T03:00:00Z")!

    private func entry(_ second: Int, _ outcome: LedgerEntry.Outcome = .sent) -> LedgerEntry {
        LedgerEntry(
            at: time + .seconds(second), segment: "s\(second)<\"\u{202e}\n.jsonl.gz", outcome: outcome, bytes: ByteCount(10),
            events: 3,
            status: 200, attempts: 1, destination: "https://hub.example/", receiver: "", detail: "é\\")
    }

    @Test("Each line is read as it was written")
    func lines() {
        for outcome in LedgerEntry.Outcome.allCases {
            let entry = entry(1, outcome)
            #expect(LedgerEntry(line: entry.line.dropLast()) == entry)
        }
        let short = LedgerEntry(at: time, segment: "a", outcome: .split, bytes: .zero)
        #expect(LedgerEntry(line: short.line.dropLast()) == short)
    }

    @Test(
        "What is no line is none",
        arguments: [
            "", "{", "[]", "null", "{\"at\":1}", #"{"at":"2026-11-21T03:00:00Z","segment":"a","outcome":"lost","bytes":1}"#,
            #"{"at":"2026-11-21T03:00:00Z","segment":"a","outcome":"sent","bytes":"1"}"#,
            #"{"at":"yesterday","segment":"a","outcome":"sent","bytes":1}"#,
            #"{"at":"2026-11-21T03:00:00Z","segment":"a","outcome":"sent","bytes":1"#,
        ])
    func others(text: String) { #expect(LedgerEntry(line: Array(text.utf8)) == nil) }

    @Test("Any beginning and any change of a line is a line or none")
    func hostile() {
        var random = Seeded(seed: 3)
        let line = Array(entry(1).line.dropLast())
        for length in line.indices { _ = LedgerEntry(line: line[..<length]) }
        for _ in 0..<2000 {
            var changed = line
            for _ in 0..<3 {
                changed[Int.random(in: changed.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = LedgerEntry(line: changed)
        }
    }

    @Test("The latest lines come first, over two days, and a torn one is passed over")
    func latest() throws {
        let spool = try folder.spool()
        try spool.ledger.append([entry(0), entry(1)])
        try spool.ledger.append([entry(86_400)])
        let file = try OpenFile.creating(folder("spool/.ferry/ledger-20261122.jsonl"), appending: true)
        try file.write(Array("{\"at\":\"20".utf8))
        #expect(try spool.ledger.latest(2) == [entry(86_400), entry(1)])
        #expect(try spool.ledger.latest(10).count == 3)
    }

    @Test("Of a long ledger its end is read")
    func long() throws {
        let spool = try folder.spool()
        try spool.ledger.append((0..<2000).map { entry($0) })
        let latest = try spool.ledger.latest(5000)
        #expect(latest.first == entry(1999))
        #expect((100..<1999).contains(latest.count))
    }

    @Test("A rejected segment's first line is read, of a damaged one what there is of it")
    func firstLine() throws {
        let spool = try folder.spool()
        _ = try spool.directory.makeDirectory("rejected")
        let long = "{\"a\":\"" + String(repeating: "x", count: 1_000_000) + "\"}\n"
        for (name, bytes) in [
            ("a.jsonl.gz", Segments.gzip("{\"n\":1}\n{\"n\":2}\n")), ("b.jsonl.gz", Segments.gzip(long)),
            ("c.jsonl.gz", Array("no gzip".utf8)), ("d.jsonl.gz", Array(Segments.gzip(Segments.lines(0..<5000)).dropLast(2000))),
        ] {
            try OpenFile.creating(folder("spool/rejected/\(name)")).write(bytes)
        }
        func line(_ name: String) -> String? {
            spool.rejected.firstLine(of: name, most: 100).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(line("a.jsonl.gz") == "{\"n\":1}")
        #expect(line("b.jsonl.gz") == String(long.prefix(100)))
        #expect(line("c.jsonl.gz") == "")
        #expect(line("d.jsonl.gz") == "{\"n\":0}")
        #expect(line("e.jsonl.gz") == nil)
        let latest = try spool.rejected.latest(2)
        #expect(latest.count == 4)
        #expect(latest.segments.count == 2)
        #expect(latest.segments.allSatisfy { $0.reason == nil })
    }
}
