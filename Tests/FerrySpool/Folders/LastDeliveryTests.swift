import FerrySpool
import TestSupport
import Testing

@Suite("The end of the ledger tells the last delivery")
struct LastDeliveryTests {
    private let folder = TemporaryFolder()

    private func write(_ lines: [String], day: String, in spool: Spool) throws {
        try spool.directory.directory(".ferry").replace(
            "ledger-\(day).jsonl", with: Array(lines.joined(separator: "\n").utf8), durable: false)
    }

    private func sent(_ time: String, to place: String = "https://hub.example/v1/segments") -> String {
        "{\"at\":\"2026-11-\(time)\",\"segment\":\"s\",\"outcome\":\"sent\",\"bytes\":1,\"destination\":\"\(place)\"}"
    }

    @Test("The last line of a delivery counts, also behind other endings, and a torn line does not")
    func last() throws {
        let spool = try folder.spool()
        #expect(try spool.ledger.lastDelivery() == nil)
        let other = "{\"at\":\"2026-11-20T05:00:00.000Z\",\"segment\":\"s\",\"outcome\":\"expired\",\"bytes\":1}"
        try write(
            [sent("20T03:00:00.000Z", to: "http://a/"), sent("20T04:00:00.000Z"), other, sent("20T06:00:00.000Z")],
            day: "20261120",
            in: spool)
        let found = try spool.ledger.lastDelivery()
        #expect(found?.at == Timestamp(rfc3339: "2026-11-20T04:00:00Z"))
        #expect(found?.destination == "https://hub.example/v1/segments")
    }

    @Test("A day without deliveries is passed over")
    func dayBefore() throws {
        let spool = try folder.spool()
        try write([sent("20T03:00:00.000Z"), ""], day: "20261120", in: spool)
        try write(["{\"at\":\"2026-11-21T05:00:00.000Z\",\"outcome\":\"rejected\"}", ""], day: "20261121", in: spool)
        #expect(try spool.ledger.lastDelivery()?.at == Timestamp(rfc3339: "2026-11-20T03:00:00Z"))
    }

    @Test("What was noted while the clock was ahead counts only where there is nothing else")
    func clockAhead() throws {
        let spool = try folder.spool()
        let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
        try write([sent("29T03:00:00.000Z"), ""], day: "20261129", in: spool)
        #expect(try spool.ledger.lastDelivery(at: now)?.at == Timestamp(rfc3339: "2026-11-29T03:00:00Z"))
        try write([sent("21T03:00:00.000Z"), sent("21T13:00:00.000Z"), ""], day: "20261121", in: spool)
        #expect(try spool.ledger.lastDelivery(at: now)?.at == Timestamp(rfc3339: "2026-11-21T03:00:00Z"))
    }

    @Test("A delivery is found before some thousand other endings")
    func manyOthers() throws {
        let spool = try folder.spool()
        let other = "{\"at\":\"2026-11-20T05:00:00.000Z\",\"segment\":\"s\",\"outcome\":\"expired\",\"bytes\":1}"
        try write([sent("20T03:00:00.000Z")] + Array(repeating: other, count: 5000) + [""], day: "20261120", in: spool)
        #expect(try spool.ledger.lastDelivery()?.at == Timestamp(rfc3339: "2026-11-20T03:00:00Z"))
    }

    @Test("A failure is over once something was delivered elsewhere later, and holds for the destination that took it")
    func failing() throws {
        let spool = try folder.spool()
        func state(_ id: String, _ place: String, at time: String) throws {
            var state = RetryState(
                attempts: 1, failures: 1, firstAttemptAt: Timestamp(rfc3339: time)!, lastAttemptAt: Timestamp(rfc3339: time)!,
                nextAttemptAt: Timestamp(rfc3339: time)!, lastError: .init(scope: .destination, kind: "status", message: "x"))
            state.destination = place
            try spool.destinations.setState(state, id)
        }
        try state("typo", "http://hub.example", at: "2026-11-20T01:00:00Z")
        try state("right", "https://hub.example/v1/segments", at: "2026-11-20T05:00:00Z")
        try write([sent("20T03:00:00.000Z"), ""], day: "20261120", in: spool)
        let last = try #require(try spool.ledger.lastDelivery())
        let failing = spool.destinations.states { _ in }.filter { $0.state.lastAttemptAt >= last.at }
        #expect(failing.map(\.id) == ["right"])
        #expect(failing.first?.state.destination == "https://hub.example/v1/segments")
    }
}
