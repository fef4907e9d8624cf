import FerrySpool
import TestSupport
import Testing

@testable import ferry

@Suite("What ferry run tells of what was delivered")
struct DeliveredSummaryTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!

    private func entry(bytes: Int64, events: Int64? = nil) -> LedgerEntry {
        LedgerEntry(at: now, segment: "s", outcome: .sent, bytes: ByteCount(bytes), events: events)
    }

    @Test("Nothing makes no line")
    func nothing() {
        let summary = Cell(DeliveredSummary())
        #expect(summary.value.take() == nil)
    }

    @Test("Of one spool the line has its name; the next line begins anew")
    func one() throws {
        let summary = Cell(DeliveredSummary())
        for _ in 0..<2 { summary.value.add(entry(bytes: 2000, events: 3), from: "hub/web01") }
        let line = try #require(summary { $0.take() })
        #expect(line.text == "delivered 2 segments (6 events, 4.0 kB) from hub/web01")
        #expect(line.about == ["segments": "2", "events": "6", "bytes": "4000", "spools": "1"])
        #expect(summary.value.take() == nil)
        summary.value.add(entry(bytes: 5), from: "hub/web01")
        #expect(summary.value.take()?.text == "delivered 1 segment (5 B) from hub/web01")
    }

    @Test("Of many spools one line has those that sent most, with their numbers")
    func many() {
        let summary = Cell(DeliveredSummary())
        for number in 1...7 {
            for _ in 0..<number { summary.value.add(entry(bytes: 1), from: "m\(number)") }
        }
        #expect(
            summary.value.take()?.text == "delivered 28 segments (28 B) from 7 spools: m7 7, m6 6, m5 5, m4 4, m3 3 and 2 more")
    }

    @Test("Sums of what cannot be saturate")
    func saturating() {
        let summary = Cell(DeliveredSummary())
        for _ in 0..<2 { summary.value.add(entry(bytes: .max, events: .max), from: "a") }
        #expect(summary.value.take()?.about["bytes"] == "\(Int64.max)")
    }
}
