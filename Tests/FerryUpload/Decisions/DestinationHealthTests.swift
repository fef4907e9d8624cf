import FerrySpool
import Testing

@testable import FerryUpload

@Suite("What is known of a destination's health")
struct DestinationHealthTests {
    private let now = Timestamp(milliseconds: 1_795_000_000_000)
    private let options: UploadOptions

    init() throws { options = UploadOptions(destination: try DestinationURL("http://hub/")) }

    /// A file's content: a failure so many seconds ago.
    private func file(_ secondsAgo: Int, waits: Int = 3000) -> RetryState {
        RetryState(
            attempts: 1, failures: 1, firstAttemptAt: now - .seconds(secondsAgo), lastAttemptAt: now - .seconds(secondsAgo),
            nextAttemptAt: now + .seconds(waits), lastError: .init(scope: .destination, kind: "connect", message: "refused"))
    }

    @Test("Of several spools' files the latest counts")
    func latest() {
        var breaker = CircuitBreaker(options)
        let isChange = [600, 700, 500].map { breaker.remember(file($0), now: now) }
        #expect(isChange == [true, false, true])
        #expect(breaker.state?.lastAttemptAt == now - .seconds(500))
    }

    @Test("A spool that joins with an old failure stops nothing once this process has seen the destination work")
    func provenWell() {
        var breaker = CircuitBreaker(options)
        _ = breaker.provedWell()
        for age in [3600, 1] {
            let isChange = breaker.remember(file(age), now: now)
            #expect(!isChange)
        }
        #expect(breaker.waitsUntil(now: now) == nil)
    }

    @Test("A failure of this process's own counts again, and a later one of another's after it")
    func failedSince() {
        var breaker = CircuitBreaker(options)
        var generator = SystemRandomNumberGenerator()
        _ = breaker.provedWell()
        _ = breaker.failed(
            .unavailable(.init(kind: "status", status: 503, message: "503"), retryAfter: nil), now: now - .seconds(60),
            using: &generator)
        let older = breaker.remember(file(90), now: now)
        let later = breaker.remember(file(30), now: now)
        #expect(!older)
        #expect(later)
    }

    @Test("Without a route of the machine's own the wait does not grow, and no failure of the destination is counted")
    func noRoute() {
        var breaker = CircuitBreaker(options)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20 {
            _ = breaker.failed(
                .unavailable(.init(kind: "no-route", message: "Network is unreachable"), retryAfter: nil), now: now,
                using: &generator)
        }
        #expect(breaker.state?.failures == 0)
        #expect(breaker.waitsUntil(now: now).map { $0 <= now + .seconds(10) } == true)
    }

    @Test(
        "The head of the line is spared after a third failure that reached the destination, or when it said when to come back",
        arguments: [
            ("status", 2, nil, false), ("status", 3, nil, true), ("connect", 3, nil, false),
            ("status", 1, Duration.seconds(9), true),
        ] as [(String, Int, Duration?, Bool)])
    func sparesHead(kind: String, failures: Int, retryAfter: Duration?, isSpared: Bool) {
        var breaker = CircuitBreaker(options)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<failures {
            _ = breaker.failed(.unavailable(.init(kind: kind, message: ""), retryAfter: retryAfter), now: now, using: &generator)
        }
        #expect(breaker.sparesHead == isSpared)
        _ = breaker.provedWell()
        #expect(!breaker.sparesHead)
    }

    @Test("That the destination was reached is known until it takes something, also while it is not there")
    func wasReached() {
        var breaker = CircuitBreaker(options)
        var generator = SystemRandomNumberGenerator()
        for kind in ["status", "connect", "connect"] {
            _ = breaker.failed(.unavailable(.init(kind: kind, message: ""), retryAfter: nil), now: now, using: &generator)
        }
        #expect(breaker.sparesHead)
        #expect(breaker.state?.lastError.kind == "connect")
        _ = breaker.provedWell()
        for _ in 0..<3 {
            _ = breaker.failed(.unavailable(.init(kind: "connect", message: ""), retryAfter: nil), now: now, using: &generator)
        }
        #expect(!breaker.sparesHead)
    }

    @Test("What was noted before the network changed, or in a time that has not come, says nothing")
    func void() {
        var breaker = CircuitBreaker(options)
        let future = breaker.remember(file(-60), now: now)
        _ = breaker.forget(at: now - .seconds(10))
        let before = breaker.remember(file(20), now: now)
        let after = breaker.remember(file(5), now: now)
        #expect(!future)
        #expect(!before)
        #expect(after)
    }

    @Test(
        "A moment that the destination names while a pass ends outlasts none that a person had ignored, and is outlasted by one of the same pass"
    )
    func toldWhileEnding() {
        var older = file(20, waits: 3000)
        older.retryAfter = true
        var breaker = CircuitBreaker(options, state: older, ignoringWaitsBefore: now - .seconds(10))
        let reason = Verdict.Reason(kind: "status", status: 429, message: "429")
        let isChange = [60, 30, 90].map { breaker.wasTold(reason, toWait: .seconds($0), now: now) }
        #expect(isChange == [true, false, true])
        #expect(breaker.waitsUntil(now: now) == now + .seconds(90))
        var obeying = CircuitBreaker(options, state: older)
        let isChangeThere = obeying.wasTold(reason, toWait: .seconds(60), now: now)
        #expect(!isChangeThere)
    }

    @Test("No wait that can be meant is taken for a clock's jump: days of back-off, and a factor above one")
    func longestWait() {
        let days = BackOff(intervals: [.seconds(60), .seconds(30 * 86_400), .seconds(10)], jitter: 0.5...2, failuresAllowed: 3)
        #expect(days.longestWait >= .seconds(60 * 86_400 - 1))
        #expect(BackOff.standard.longestWait == RetryAfter.longest)
    }
}

@Suite("How long a folder that is missing in its collection is remembered")
struct AbsenceTests {
    private func identities() throws -> [FileStatus.Identity] { try ["/", "/proc"].map { try Directory.open($0).identity() } }

    @Test("An hour while the collection is the same, a day when it is another folder, and anew after each return")
    func forgetting() throws {
        let places = try identities()
        var absence = Absence()
        func missed(_ seconds: Int, in place: Int = 0) -> Bool {
            absence.missed(in: places[place], at: .seconds(seconds), .init())
        }
        absence.seen(in: places[0])
        let first = [missed(0), missed(3599), missed(3600)]
        absence.seen(in: places[0])
        let again = [missed(5000), missed(8000), missed(8600)]
        absence.seen(in: places[0])
        let elsewhere = [missed(10_000, in: 1), missed(20_000, in: 1), missed(96_400, in: 1)]
        #expect(first == [false, false, true])
        #expect(again == [false, false, true])
        #expect(elsewhere == [false, false, true])
    }
}
