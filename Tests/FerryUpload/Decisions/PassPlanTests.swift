import TestSupport
import Testing

@testable import FerryUpload

@Suite("What an upload pass does next")
struct PassPlanTests {
    private let reason = Verdict.Reason(kind: "status", status: 500, message: "HTTP 500")
    private var doubtful: Verdict { .doubtful(reason) }

    private func plan(_ parallel: Int = 1, order: SendOrder = .priority, recovering: Bool = false) -> DeliveryPlan {
        DeliveryPlan(order: order, parallel: parallel, isRecovering: recovering)
    }

    @Test("As many as allowed are under way at once")
    func parallel() {
        var plan = plan(2)
        plan.start(1)
        #expect(plan.next() == .sendNext)
        plan.start(2)
        #expect(plan.next() == .wait)
        #expect(plan.finish(1, .delivered(status: 200)) == [.delivered(1)])
        #expect(plan.next() == .sendNext)
    }

    @Test("If the next one passes, the failed one is at fault")
    func segmentAtFault() {
        var plan = plan()
        plan.start(1)
        #expect(plan.finish(1, doubtful) == [])
        #expect(plan.next() == .sendProbe)
        plan.start(2)
        #expect(plan.finish(2, .delivered(status: 200)) == [.segmentAtFault(1), .delivered(2)])
        #expect(plan.next() == .sendNext)
        #expect(plan.isProvenWell)
    }

    @Test("A destination that a segment reached, and that is not there for the next one, is told by what came to the first")
    func goneSince() {
        var plan = plan()
        plan.start(1)
        #expect(plan.finish(1, doubtful) == [])
        plan.start(2, isProbe: true)
        let refused = Verdict.Reason(kind: "connect", message: "refused")
        #expect(plan.finish(2, .unavailable(refused, retryAfter: nil)) == [.destinationAtFault(1), .destinationAtFault(2)])
        let both = Verdict.Reason(kind: "status", status: 500, message: "HTTP 500; then refused")
        #expect(plan.stopReason == .unavailable(both, retryAfter: nil))
    }

    @Test("A clear refusal of the probe shows as well that the destination works")
    func refusalProves() {
        var plan = plan()
        plan.start(1)
        _ = plan.finish(1, doubtful)
        plan.start(2)
        #expect(plan.finish(2, .refused(reason, body: "")) == [.segmentAtFault(1), .refused(2)])
    }

    @Test("If the next one fails too, the destination is unavailable and the pass ends")
    func unavailable() {
        var plan = plan()
        plan.start(1)
        _ = plan.finish(1, doubtful)
        plan.start(2, isProbe: true)
        #expect(plan.finish(2, doubtful) == [.destinationAtFault(1), .destinationAtFault(2)])
        #expect(plan.next() == .stop)
        #expect(plan.stopReason == .unavailable(reason, retryAfter: nil))
    }

    @Test("Two poisoned segments side by side do not hide a working destination from one that is under way")
    func waitsForOthersUnderWay() {
        var plan = plan(3)
        for id in 1...3 { plan.start(id) }
        #expect(plan.finish(1, doubtful) == [])
        #expect(plan.finish(2, doubtful) == [])
        #expect(plan.next() == .wait)
        #expect(plan.finish(3, .delivered(status: 200)) == [.segmentAtFault(1), .segmentAtFault(2), .delivered(3)])
        #expect(plan.stopReason == nil)
    }

    /// Three failed that were under way at once.
    private func threeFailed() -> DeliveryPlan {
        var plan = plan(3)
        for id in 1...3 { plan.start(id) }
        for id in 1...3 { #expect(plan.finish(id, doubtful) == []) }
        return plan
    }

    @Test("All three fail at once, and a probe too: the destination is to blame")
    func allFail() {
        var plan = threeFailed()
        #expect(plan.next() == .sendProbe)
        plan.start(4, isProbe: true)
        #expect(
            plan.finish(4, doubtful) == [
                .destinationAtFault(1), .destinationAtFault(2), .destinationAtFault(3), .destinationAtFault(4),
            ])
        #expect(plan.stopReason == .unavailable(reason, retryAfter: nil))
    }

    @Test("All three fail at once, and a probe passes: they are at fault")
    func neighboursFail() {
        var plan = threeFailed()
        plan.start(4, isProbe: true)
        #expect(
            plan.finish(4, .delivered(status: 200)) == [
                .segmentAtFault(1), .segmentAtFault(2), .segmentAtFault(3), .delivered(4),
            ])
        #expect(plan.stopReason == nil)
    }

    @Test("All three fail at once, and nothing is left to probe with: the destination is to blame")
    func allFailAlone() {
        var plan = threeFailed()
        #expect(plan.exhausted() == [.destinationAtFault(1), .destinationAtFault(2), .destinationAtFault(3)])
        #expect(plan.stopReason == .unavailable(reason, retryAfter: nil))
    }

    @Test("A lone failure without anything to probe with stays undetermined")
    func undetermined() {
        var plan = plan()
        plan.start(1)
        _ = plan.finish(1, doubtful)
        #expect(plan.exhausted() == [.undetermined(1)])
    }

    @Test("A probe that is not sent after all leaves the doubt")
    func skippedProbe() {
        var plan = plan()
        plan.start(1)
        _ = plan.finish(1, doubtful)
        plan.start(2)
        plan.skip(2)
        #expect(plan.next() == .sendProbe)
    }

    @Test("Unwell destinations end the pass at once and burn nobody else's attempts")
    func retryAfter() {
        var plan = plan(2)
        plan.start(1)
        plan.start(2)
        #expect(plan.finish(1, .unavailable(reason, retryAfter: .seconds(9))) == [.destinationAtFault(1)])
        #expect(plan.next() == .stop)
        #expect(plan.finish(2, .delivered(status: 200)) == [.delivered(2)])
        #expect(plan.stopReason == .unavailable(reason, retryAfter: .seconds(9)))
    }

    @Test(
        "A segment that goes in a circle is alone to blame, and shows that the destination works; in strict order it is waited for"
    )
    func circling() {
        var plan = plan()
        plan.start(1)
        #expect(plan.finish(1, .circling(reason)) == [.segmentAtFault(1)])
        #expect(plan.isProvenWell)
        #expect(plan.next() == .sendNext)
        var strict = self.plan(order: .strict)
        strict.start(1)
        #expect(strict.finish(1, .circling(reason)) == [.undetermined(1)])
        #expect(strict.stopReason == .headWaits)
    }

    @Test(
        "Each pass that a destination ends with answers makes the next one try twice as many, up to 64; where none comes, one is enough",
        arguments: [(0, 1), (1, 2), (3, 8), (6, 64), (900, 64), (-1, 1)])
    func moreProbes(failures: Int, probes: Int) {
        func tries(_ verdict: Verdict) -> Int {
            var plan = DeliveryPlan(order: .priority, parallel: 1, isRecovering: true, failures: failures, sparesHead: true)
            var tries = 0
            while plan.next() == .sendProbe {
                tries += 1
                plan.start(tries, isProbe: true)
                _ = plan.finish(tries, verdict)
            }
            return tries
        }
        #expect(tries(doubtful) == max(probes, 2))
        #expect(tries(.doubtful(.init(kind: "timeout", message: "no answer"))) == 2)
    }

    @Test("After a wait as told the first to go is the one tried least, alone, until something passes")
    func afterWaitAsTold() {
        var plan = DeliveryPlan(order: .priority, parallel: 3, isRecovering: true, sparesHead: true)
        #expect(plan.next() == .sendProbe)
        plan.start(1)
        #expect(plan.next() == .wait)
        plan.skip(1)
        #expect(plan.next() == .sendProbe)
        plan.start(2)
        _ = plan.finish(2, .delivered(status: 200))
        #expect(plan.next() == .sendNext)
    }

    @Test(
        "After a pass that the destination ended, more and more go before one that was tried often, and it goes after them",
        arguments: [(1, 2, 0), (1, 3, 1), (1, 4, 2), (1, 6, 8), (1, 1_000_000_000, 8), (0, 9, 0)])
    func sparesOften(failures: Int, attempts: Int, expected: Int) {
        var plan = DeliveryPlan(order: .priority, parallel: 1, isRecovering: failures > 0, failures: failures)
        var spared = 0
        while plan.sparesNext(tried: attempts) { spared += 1 }
        #expect(spared == expected)
        var strict = DeliveryPlan(order: .strict, parallel: 1, isRecovering: true, failures: 1)
        let isStrictSpared = strict.sparesNext(tried: attempts)
        #expect(!isStrictSpared)
    }

    @Test("In strict order the head of the line is tried again after a wait as told, and waits for the destination as before")
    func strictAfterWaitAsTold() {
        var plan = DeliveryPlan(order: .strict, parallel: 1, isRecovering: true, sparesHead: true)
        #expect(plan.next() == .sendNext)
        plan.start(1)
        _ = plan.finish(1, .delivered(status: 200))
        plan.start(2)
        #expect(plan.finish(2, .unavailable(reason, retryAfter: .seconds(9)), tries: 2) == [.destinationAtFault(2)])
    }

    @Test("Told to come back, and told so again when another has passed, a segment waits by itself; the first time it does not")
    func toldAgain() {
        for (tries, hasPassed, expected) in [
            (2, true, DeliveryPlan.Judgement.undetermined(2)), (1, true, .destinationAtFault(2)),
            (2, false, .destinationAtFault(2)),
        ] {
            var plan = plan()
            if hasPassed {
                plan.start(1)
                _ = plan.finish(1, .delivered(status: 200))
            }
            plan.start(2)
            #expect(plan.finish(2, .unavailable(reason, retryAfter: .seconds(9)), tries: tries) == [expected])
            #expect(plan.stopReason == .unavailable(reason, retryAfter: .seconds(9)))
        }
    }

    @Test("A misconfiguration ends the pass and touches no segment")
    func misconfigured() {
        var plan = plan()
        plan.start(1)
        #expect(plan.finish(1, .misconfigured(reason)) == [.untouched(1)])
        #expect(plan.stopReason == .misconfigured(reason))
    }

    @Test("What the link broke off is split, says nothing of the destination, and lets its halves go on at once")
    func brokenOff() {
        var plan = plan()
        plan.start(1)
        #expect(plan.finish(1, .brokenOff(reason)) == [.split(1)])
        #expect(plan.next() == .sendNext)
        #expect(!plan.isProvenWell)
    }

    @Test("A probe that breaks off leaves the doubt about the one before it")
    func brokenProbe() {
        var plan = plan()
        plan.start(1)
        _ = plan.finish(1, doubtful)
        plan.start(2)
        #expect(plan.finish(2, .brokenOff(reason)) == [.split(2)])
        #expect(plan.next() == .sendProbe)
    }

    @Test("In strict order one is under way, and the head of the line waits")
    func strict() {
        var plan = plan(3, order: .strict)
        plan.start(1)
        #expect(plan.next() == .wait)
        #expect(plan.finish(1, doubtful) == [.undetermined(1)])
        #expect(plan.stopReason == .headWaits)
    }

    @Test("After an outage the number under way ramps up from 1")
    func ramp() {
        var plan = plan(8, recovering: true)
        var widths: [Int] = []
        for id in 1...5 {
            widths.append(plan.window)
            plan.start(id)
            _ = plan.finish(id, .delivered(status: 200))
        }
        #expect(widths == [1, 2, 4, 8, 8])
    }

    @Test("A stopped pass starts nothing, and what is cut off is untouched")
    func stopped() {
        var plan = plan(2)
        plan.start(1)
        plan.start(2)
        plan.stop(.timeLimit)
        #expect(plan.next() == .stop)
        #expect(plan.finish(1, Verdict(.cancelled)) == [.untouched(1)])
        #expect(plan.finish(2, doubtful) == [.undetermined(2)])
        plan.stop(.interrupted)
        #expect(plan.stopReason == .timeLimit)
    }

    @Test("Each request's own retries, as App Center has them: the fourth failure ends everything")
    func eachRequest() {
        var plan = DeliveryPlan(order: .priority, parallel: 3, isRecovering: false, blame: .eachRequest(retries: 3))
        for tries in 1...3 {
            plan.start(tries)
            #expect(plan.finish(tries, doubtful, tries: tries) == [.segmentAtFault(tries)])
            #expect(plan.next() == .sendNext)
        }
        plan.start(4)
        #expect(plan.finish(4, .unavailable(reason, retryAfter: nil), tries: 4) == [.segmentAtFault(4)])
        #expect(plan.stopReason == .off(reason))
        #expect(plan.next() == .stop)
    }

    @Test("Whatever happens, every segment is judged exactly once")
    func everySegmentIsJudgedOnce() {
        var generator = Seeded(seed: 21)
        let verdicts: [Verdict] = [
            .delivered(status: 200), doubtful, doubtful, .refused(reason, body: ""), .tooLarge(reason),
            .withdrawn(reason), .unavailable(reason, retryAfter: nil), .misconfigured(reason),
        ]
        for round in 0..<5000 {
            var plan = DeliveryPlan(
                order: .priority, parallel: Int.random(in: 1...5, using: &generator), isRecovering: round.isMultiple(of: 2))
            var underWay: [Int] = []
            var judged: [Int] = []
            var started = 0
            loop: while true {
                switch plan.next() {
                case .sendNext, .sendProbe:
                    if started == 20 {
                        if underWay.isEmpty { break loop }
                    } else {
                        started += 1
                        plan.start(started)
                        underWay.append(started)
                        continue
                    }
                case .wait: #expect(!underWay.isEmpty)
                case .stop: if underWay.isEmpty { break loop }
                }
                let id = underWay.remove(at: Int.random(in: underWay.indices, using: &generator))
                judged += plan.finish(id, verdicts.randomElement(using: &generator)!).map(\.id)
            }
            judged += plan.exhausted().map(\.id)
            #expect(judged.sorted() == Array(1...max(started, 1)).filter { $0 <= started })
        }
    }
}
