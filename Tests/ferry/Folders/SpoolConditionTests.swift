import FerrySpool
import FerryUpload
import Testing

@testable import ferry

@Suite("What is wrong with a spool, since when, and what to do")
struct SpoolConditionTests {
    private let now = Timestamp(rfc3339: "2026-11-21T12:00:00Z")!
    private var facts = SpoolFacts("hub/web03")

    private func ago(days: Int64 = 0, hours: Int64 = 0) -> Timestamp { now - .seconds(days * 86_400 + hours * 3600) }

    private func failure(since: Timestamp, wait: Duration, message: String = "HTTP 503") -> RetryState {
        var state = RetryState(
            attempts: 3, failures: 3, firstAttemptAt: since, lastAttemptAt: now, nextAttemptAt: now + wait,
            lastError: .init(scope: .destination, kind: "status", status: 503, message: message))
        state.destination = "https://hub.example/v1/segments"
        return state
    }

    private func only(_ facts: SpoolFacts) throws -> SpoolCondition {
        let found = SpoolCondition.all(of: facts, at: now)
        try #require(found.count == 1, "\(found)")
        return found[0]
    }

    @Test("A spool of which nothing is to be said is ok")
    func ok() throws {
        #expect(try only(facts) == SpoolCondition(kind: .ok))
    }

    @Test("Rejected segments wait for a person, with their number, the first reason and its time")
    func rejected() throws {
        var facts = facts
        facts.rejected = 3
        facts.rejection = RejectionReason(at: ago(hours: 2), kind: "status", status: 400, message: "HTTP 400: no", attempts: 1)
        let found = try only(facts)
        #expect(found.title == "rejected 3")
        #expect(found.since == ago(hours: 2))
        #expect(found.needsPerson)
        #expect(
            found.line(at: now)
                == "rejected 3 since 2026-11-21T10:00:00.000Z (2 h): HTTP 400: no; ferry status --spool hub/web03")
    }

    @Test("What a receiver of Ferry's answered is told in its words, not as JSON")
    func answer() {
        let message = #"HTTP 400: {"error":"line 1, column 7: not UTF-8","line":1,"column":7}"#
        let reason = RejectionReason(at: now, kind: "status", status: 400, message: message, attempts: 1)
        #expect(reason.summary == "HTTP 400: line 1, column 7: not UTF-8")
    }

    @Test("A destination that is down is a person's affair after a day, and only where something waits for it")
    func outage() throws {
        var facts = facts
        facts.failure = failure(since: ago(hours: 23), wait: .seconds(60))
        facts.pending = 1
        #expect(try !only(facts).needsPerson)
        facts.failure = failure(since: ago(hours: 25), wait: .seconds(60))
        #expect(try only(facts).needsPerson)
        facts.pending = 0
        #expect(try !only(facts).needsPerson)
    }

    @Test("A misconfigured destination is a person's affair at once")
    func misconfigured() throws {
        var facts = facts
        facts.failure = failure(since: now, wait: .zero, message: "HTTP 401; check the token")
        let found = try only(facts)
        #expect(found.needsPerson)
        #expect(found.why == "HTTP 401; check the token")
    }

    @Test("A wait says until when, and which command tries now: flush where ferry run looks after it, upload elsewhere")
    func remedies() throws {
        var facts = facts
        facts.failure = failure(since: ago(hours: 1), wait: .seconds(90))
        facts.standstill = Standstill(
            control: SpoolControl(), uploader: nil, destinations: [("x", facts.failure!)], at: now)
        #expect(
            try only(facts).line(at: now)
                == "waits since 2026-11-21T11:00:00.000Z (1 h): HTTP 503, not tried before 2026-11-21T12:01:30.000Z (in 1 min 30 s); the next ferry upload tries again, with --retry-now at once"
        )
        facts.uploader = UploaderMark(startedAt: now, destination: "https://hub.example/v1/segments", deadline: nil)
        #expect(try only(facts).remedy == "ferry flush --spool hub/web03 tries at once")
    }

    @Test("A bundle that has travelled for more than 7 days may be lost")
    func travels() throws {
        var facts = facts
        func bundle(_ since: Timestamp, isUnderWay: Bool = false) -> TravellingBundle {
            TravellingBundle(bundle: "4xms", since: since, segments: 3, isUnderWay: isUnderWay)
        }
        facts.travelling = [bundle(now, isUnderWay: true)]
        #expect(try only(facts).kind == .ok)
        facts.travelling = [bundle(ago(days: 7))]
        #expect(try !only(facts).needsPerson)
        facts.travelling = [bundle(ago(days: 8)), bundle(ago(days: 1))]
        let found = try only(facts)
        #expect(found.needsPerson)
        #expect(found.title == "travels 6")
        #expect(found.why == "in bundle 4xms, the oldest of 2: is it lost?")
        #expect(found.remedy == "ferry export --forget 4xms --spool hub/web03")
    }

    @Test("A machine of which nothing has come is told at once, with since when, and waits for a person after a day")
    func neverSent() throws {
        var facts = facts
        facts.registration = Registration(name: "web03", since: ago(hours: 2), isRevoked: false)
        let young = try only(facts)
        #expect(
            young.line(at: now) == "silent since 2026-11-21T10:00:00.000Z (2 h): nothing has come since the machine was added")
        #expect(!young.needsPerson)
        facts.isSilent = true
        #expect(try only(facts).needsPerson)
        facts.last = ago(hours: 1)
        facts.isSilent = false
        #expect(try only(facts).kind == .ok)
        facts.last = nil
        facts.registration = Registration(name: "web03", since: ago(hours: 2), isRevoked: true)
        #expect(try only(facts).kind == .ok)
    }

    @Test("A pause is a person's own for 7 days; with nothing pending it does no harm")
    func paused() throws {
        var facts = facts
        facts.control.isPaused = true
        facts.control.changedAt = ago(days: 8)
        #expect(try !only(facts).needsPerson)
        facts.pending = 1
        #expect(try only(facts).needsPerson)
        facts.control.changedAt = ago(days: 6)
        #expect(try !only(facts).needsPerson)
        #expect(try only(facts).title == "paused")
    }

    @Test("What a pause or a disabled spool explains is not told a second time as a wait")
    func controlOutweighsWaits() throws {
        var facts = facts
        facts.control.isDisabled = true
        facts.failure = failure(since: ago(days: 3), wait: .seconds(60))
        #expect(try only(facts).kind == .disabled)
    }

    @Test("What waits for a person comes first, then the kinds in their order, then what has lasted longest")
    func order() {
        var facts = facts
        facts.problem = "Input/output error"
        facts.rejected = 1
        facts.late = 2
        facts.isSilent = true
        facts.control.isPaused = true
        let kinds = SpoolCondition.all(of: facts, at: now).map(\.kind)
        #expect(kinds == [.unreadable, .rejected, .late, .silent, .paused])
        let young = SpoolCondition(kind: .waits, since: ago(hours: 1))
        let old = SpoolCondition(kind: .waits, since: ago(hours: 2))
        #expect(old < young)
        #expect(SpoolCondition(kind: .travels, needsPerson: true) < old)
    }

    @Test("Of a spool with lanes, each destination's is told with its name, and a pause once")
    func lanes() throws {
        var main = facts
        main.control.isPaused = true
        var lane = SpoolFacts("hub/web03", lane: LaneName("archive"))
        lane.control.isPaused = true
        lane.rejected = 1
        let found = SpoolCondition.all(of: [main, lane], at: now)
        #expect(found.map(\.kind) == [.rejected, .paused])
        #expect(found[0].place?.text == "archive")
        #expect(found[0].remedy == "ferry status --spool hub/web03 --destination archive")
    }

    @Test("Totals count each spool by its most troubling condition, what is ok first")
    func totals() {
        var totals = SpoolTotals()
        for _ in 0..<44 { totals.add([SpoolCondition(kind: .ok)]) }
        for _ in 0..<3 { totals.add([SpoolCondition(kind: .late, needsPerson: true), SpoolCondition(kind: .waits)]) }
        totals.add([SpoolCondition(kind: .unreadable, needsPerson: true)])
        #expect("\(totals)" == "48 spools: 44 ok, 1 cannot be read, 3 late")
        #expect(totals.needingPerson == 4)
        #expect("\(SpoolTotals())" == "0 spools: none")
    }

    @Test("A reason of a megabyte is cut")
    func longReason() throws {
        var facts = facts
        facts.problem = String(repeating: "x", count: 1 << 20)
        #expect(try only(facts).why?.count == 1001)
    }

    @Test(
        "A name is one word of a shell's command line",
        arguments: [
            ("hub/web-03", "hub/web-03"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("$(rm)", "'$(rm)'"),
            ("~x", "'~x'"), ("a\u{1b}\n'\\ä", #"$'a\x1b\x0a\'\\\xc3\xa4'"#), ("ä", "'ä'"),
        ])
    func words(name: String, word: String) {
        #expect(name.shellWord == word)
    }
}
