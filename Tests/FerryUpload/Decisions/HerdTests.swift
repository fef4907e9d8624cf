import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

/// A thousand machines whose hub was away for an hour, by a virtual clock.
@Suite("A herd that comes back")
struct HerdTests {
    private static let machines = 1000
    private static let backlog = 20
    private static let outage = Duration.seconds(3600)
    /// More requests in a second are answered with 503.
    private static let capacity = 1500
    private static let roundTrip = Duration.milliseconds(50)

    private struct Result {
        var requestsBySecond: [Int: Int] = [:]
        var refused = 0
        var finishedAt = Duration.zero

        /// Of the first seconds after the outage on.
        var peak: Int { requestsBySecond.filter { $0.key >= 3600 }.map(\.value).max() ?? 0 }
    }

    private protocol Client {
        mutating func next(now: Duration) -> (start: Int, wakeAt: Duration?)
        mutating func finished(_ verdict: Verdict, now: Duration, using generator: inout Seeded)
        var isDone: Bool { get }
    }

    /// As Ferry decides: one breaker, random waits, a ramp.
    private struct Ferry: Client {
        private static let origin = Timestamp(rfc3339: "2026-11-21T00:00:00Z")!
        private var plan: DeliveryPlan
        private var breaker: CircuitBreaker
        private var left = HerdTests.backlog
        private var id = 0
        private var underWay: [Int] = []
        private let options: UploadOptions

        init() throws {
            options = UploadOptions(destination: try DestinationURL("http://hub/v1/segments"))
            breaker = CircuitBreaker(options)
            plan = DeliveryPlan(order: .priority, parallel: 3, isRecovering: false)
        }

        var isDone: Bool { left == 0 && underWay.isEmpty }

        mutating func next(now: Duration) -> (start: Int, wakeAt: Duration?) {
            let time = Self.origin + now
            if plan.stopReason != nil {
                guard underWay.isEmpty else { return (0, nil) }
                if let until = breaker.waitsUntil(now: time) { return (0, until - Self.origin) }
                plan = DeliveryPlan(order: .priority, parallel: 3, isRecovering: breaker.isRecovering)
            }
            var started = 0
            while left - underWay.count > 0, case let step = plan.next(), step == .sendNext || step == .sendProbe {
                id += 1
                plan.start(id, isProbe: step == .sendProbe)
                underWay.append(id)
                started += 1
            }
            return (started, nil)
        }

        mutating func finished(_ verdict: Verdict, now: Duration, using generator: inout Seeded) {
            let id = underWay.removeFirst()
            let wasStopped = plan.stopReason != nil
            for case .delivered in plan.finish(id, verdict, latency: HerdTests.roundTrip) { left -= 1 }
            if plan.isProvenWell, plan.stopReason == nil { _ = breaker.provedWell() }
            if let reason = plan.stopReason, !wasStopped {
                _ = breaker.failed(reason, now: Self.origin + now, using: &generator)
            }
        }
    }

    /// As a script in cron does: every minute everything, three at a time, until something fails.
    private struct Cron: Client {
        private var left = HerdTests.backlog
        private var underWay = 0
        private var waitsUntil = Duration.zero

        var isDone: Bool { left == 0 && underWay == 0 }

        mutating func next(now: Duration) -> (start: Int, wakeAt: Duration?) {
            if now < waitsUntil { return (0, underWay == 0 ? waitsUntil : nil) }
            let started = max(0, min(3, left) - underWay)
            underWay += started
            return (started, nil)
        }

        mutating func finished(_ verdict: Verdict, now: Duration, using generator: inout Seeded) {
            underWay -= 1
            if case .delivered = verdict { left -= 1 } else { waitsUntil = .seconds((Int(now.inSeconds) / 60 + 1) * 60) }
        }
    }

    private enum Event {
        case look(Int)
        case answer(Int, Verdict)
    }

    private func simulate(_ makeClient: () throws -> some Client) rethrows -> Result {
        let reason = Verdict.Reason(kind: "status", status: 503, message: "HTTP 503")
        var generator = Seeded(seed: 77)
        var clients = try (0..<Self.machines).map { _ in try makeClient() }
        var result = Result()
        var events = EventQueue<Event>()
        // They were all at work when it began, each at its own moment.
        for machine in clients.indices {
            events.add(.look(machine), at: .milliseconds(.random(in: 0..<60_000, using: &generator)))
        }
        func look(_ machine: Int, _ now: Duration) {
            let (start, wakeAt) = clients[machine].next(now: now)
            for _ in 0..<start {
                let second = Int(now.inSeconds)
                result.requestsBySecond[second, default: 0] += 1
                let isWell = now >= Self.outage && result.requestsBySecond[second]! <= Self.capacity
                if !isWell, now >= Self.outage { result.refused += 1 }
                events.add(
                    .answer(machine, isWell ? .delivered(status: 200) : .unavailable(reason, retryAfter: nil)),
                    at: now + Self.roundTrip)
            }
            if let wakeAt { events.add(.look(machine), at: max(wakeAt, now + .milliseconds(1))) }
        }
        while let (now, event) = events.next() {
            switch event {
            case .look(let machine): look(machine, now)
            case .answer(let machine, let verdict):
                clients[machine].finished(verdict, now: now, using: &generator)
                if clients[machine].isDone { result.finishedAt = now } else { look(machine, now) }
            }
        }
        let unfinished = clients.filter { !$0.isDone }.count
        #expect(unfinished == 0)
        return result
    }

    @Test("Spread out, it asks at a fraction of a naive client's peak, and is hardly ever refused")
    func spread() throws {
        let ferry = try simulate { try Ferry() }
        let cron = simulate { Cron() }
        print(
            """
            1,000 machines after an hour's outage, \(Self.backlog) segments each, \(Self.capacity) requests/s at most:
              ferry  peak \(ferry.peak)/s, refused \(ferry.refused), all delivered after \((ferry.finishedAt - Self.outage).forPeople)
              cron   peak \(cron.peak)/s, refused \(cron.refused), all delivered after \((cron.finishedAt - Self.outage).forPeople)
              ratio  peak \(cron.peak / max(ferry.peak, 1)) to 1
            """)
        #expect(ferry.peak * 4 < cron.peak)
        #expect(ferry.refused * 4 < max(cron.refused, 4))
    }
}
