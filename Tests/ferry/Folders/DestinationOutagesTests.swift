import FerrySpool
import FerryUpload
import TestSupport
import Testing

@testable import ferry

@Suite("What ferry run tells of what stands still")
struct DestinationOutagesTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private let hub = "https://hub.example/v1/segments"

    private func waits(_ why: String = "HTTP 503") -> SendBlocker { .destinationWaits(until: now + .seconds(30), why) }

    @Test("A destination that many spools wait for is told once, when it fails and when it has taken a segment again")
    func once() throws {
        let outages = Cell(DestinationOutages())
        let lines = (0..<48).compactMap { outages.value.blocked("hub/\($0)", waits(), destination: hub, at: now) }
        #expect(lines.map(\.text) == ["\(hub): waiting until 2026-11-21T12:00:30.000Z: HTTP 503"])
        #expect(lines.first?.isWarning == false)
        // It is tried again, and fails again.
        #expect(outages.value.blocked("hub/0", nil, destination: hub, at: now) == nil)
        #expect(outages.value.blocked("hub/0", waits("HTTP 500"), destination: hub, at: now) == nil)
        let end = try #require(outages { $0.answered(hub, at: now + .seconds(720)) })
        #expect(end.text == "\(hub): delivers again, after 12 min")
        #expect(outages.value.answered(hub, at: now + .seconds(721)) == nil)
        #expect(outages.value.blocked("hub/0", waits(), destination: hub, at: now + .seconds(722)) != nil)
    }

    @Test("What a person must mend is a warning, and one that fails in two ways by turns has a line for each")
    func kinds() {
        let outages = Cell(DestinationOutages())
        let wrong = SendBlocker.misconfigured(until: now, "HTTP 401")
        #expect(outages.value.blocked("a", waits(), destination: hub, at: now)?.isWarning == false)
        #expect(outages.value.blocked("a", wrong, destination: hub, at: now)?.isWarning == true)
        #expect(outages.value.blocked("a", waits(), destination: hub, at: now) == nil)
        #expect(outages.value.blocked("a", wrong, destination: hub, at: now) == nil)
    }

    @Test("An outage is over with an answer that refuses, and each reason that a person must mend is told, not without end")
    func answers() {
        let outages = Cell(DestinationOutages())
        let wrong = { (why: String) in SendBlocker.misconfigured(until: now, why) }
        #expect(outages.value.blocked("a", wrong("HTTP 401"), destination: hub, at: now) != nil)
        #expect(
            outages.value.answered(hub, delivers: false, at: now + .seconds(60))?.text == "\(hub): answers again, after 1 min")
        #expect(outages.value.blocked("a", wrong("HTTP 401"), destination: hub, at: now) != nil)
        #expect(outages.value.blocked("a", wrong("HTTP 401"), destination: hub, at: now) == nil)
        #expect(outages.value.blocked("a", wrong("the certificate is for another host"), destination: hub, at: now) != nil)
        let told = (0..<100).compactMap { outages.value.blocked("a", wrong("reason \($0)"), destination: hub, at: now) }
        #expect(told.count < 10)
    }

    @Test("Two destinations are told of apart")
    func apart() {
        let outages = Cell(DestinationOutages())
        #expect(outages.value.blocked("s/to/a", waits(), destination: "a", at: now)?.text.hasPrefix("a: ") == true)
        #expect(outages.value.blocked("s/to/b", waits(), destination: "b", at: now)?.text.hasPrefix("b: ") == true)
        #expect(outages.value.answered("b", at: now)?.text.hasPrefix("b: ") == true)
        #expect(outages.value.answered("a", at: now)?.text.hasPrefix("a: ") == true)
    }

    @Test("A window that closes is told once for all spools, and so is its opening")
    func window() {
        let outages = Cell(DestinationOutages())
        let closed = SendBlocker.windowClosed(until: nil)
        let begins = ["a", "b"].compactMap { outages.value.blocked($0, closed, destination: hub, at: now)?.text }
        #expect(begins == ["\(hub): outside the upload window"])
        let ends = ["a", "b"].compactMap { outages.value.blocked($0, nil, destination: hub, at: now)?.text }
        #expect(ends == ["\(hub): sending"])
    }

    @Test("A pause is told of its spool alone, and so is its end, also within an outage")
    func pause() {
        let outages = Cell(DestinationOutages())
        _ = outages.value.blocked("a", waits(), destination: hub, at: now)
        #expect(outages.value.blocked("a", .paused, destination: hub, at: now)?.text == "a: paused")
        #expect(outages.value.blocked("b", nil, destination: hub, at: now) == nil)
        #expect(outages.value.blocked("a", nil, destination: hub, at: now)?.text == "a: sending")
    }
}
