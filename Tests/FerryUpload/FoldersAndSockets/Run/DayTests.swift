import FerrySpool
import Synchronization
import TestSupport
import Testing

@testable import FerryUpload

/// Twenty-four hours of a machine with a bad network, a slow disk and restarts, by a virtual clock; the spool is a real folder.
@Suite("A simulated day")
struct DayTests {
    /// The hub: it keeps each key once.
    private struct HubModel {
        var keys: [String: Int] = [:]
        var isDown = false
    }

    private final class Clock: Sendable {
        private let time = Mutex(Duration.zero)
        static let origin = Timestamp(rfc3339: "2026-03-28T12:00:00Z")!
        var now: Duration {
            get { time.withLock { $0 } }
            set { time.withLock { $0 = newValue } }
        }
        var wall: Timestamp { Self.origin + now }
        var moment: Moment { Moment(wall: wall, steady: now) }
    }

    private enum Event {
        case produce
        case network(isUp: Bool)
        case hub(isDown: Bool)
        case answer(life: Int, DeliveryJob, [PreparedSegment], lost: Bool)
        case disk(life: Int)
        case look(life: Int)
        case restart
    }

    @Test(
        "Every event arrives exactly once, and every limit is kept", .enabled(if: hasTimeZones, "needs tzdata"), .serialized,
        arguments: [1, 2, 3])
    func day(_ seed: UInt64) async throws {
        var simulation = try Simulation(seed: seed)
        try await simulation.run()
        simulation.check()
    }

    private struct Simulation {
        let folder = TemporaryFolder()
        let spool: Spool
        let clock = Clock()
        var generator: Seeded
        var events = EventQueue<Event>()
        let options: RunOptions
        var hub = HubModel()
        var isUp = true
        var produced: Set<String> = []
        /// Counts restarts: what was under way in an earlier life never ends.
        var life = 0
        var state: RunState
        var delivery: FolderDelivery
        var underWay = 0
        var requests = 0
        var mostUnderWay = 0
        static let day = Duration.seconds(86_400)

        init(seed: UInt64) throws {
            generator = Seeded(seed: seed)
            spool = try folder.spool()
            var upload = UploadOptions(destination: try DestinationURL("http://hub/v1/segments"))
            upload.retention = RetentionLimits(maxBytes: .mebibytes(64), maxAge: .seconds(7 * 86_400))
            upload.due = DueTime(time: DayTime(parsing: "04:00")!, zone: try Zone(named: "Europe/Berlin"))
            var options = RunOptions(
                upload: upload, schedule: SchedulePolicy(interval: .seconds(120), events: 200, criticalDelay: .seconds(3)))
            options.windows = UploadWindows(parsing: "18:00-16:00", zone: try Zone(named: "Europe/Berlin"))
            self.options = options
            (state, delivery) = try Self.begin(options, spool, clock)
        }

        private static func begin(
            _ options: RunOptions, _ spool: Spool, _ clock: Clock
        ) throws -> (RunState, FolderDelivery) {
            var delivery = try FolderDelivery([spool], options: options.upload, now: { clock.wall })
            let id = DestinationID.id(of: "\(options.upload.destination)")
            if let known = (try? spool.destinations.state(id)) ?? nil { delivery.state.remember(known, at: clock.wall) }
            var state = RunState(options)
            state.add(SpoolControl())
            return (state, delivery)
        }

        mutating func random(_ range: Range<Int>) -> Int { .random(in: range, using: &generator) }

        mutating func run() async throws {
            events.add(.produce, at: .zero)
            events.add(.network(isUp: false), at: .seconds(random(100..<3000)))
            events.add(.hub(isDown: true), at: .seconds(random(5000..<20_000)))
            events.add(.restart, at: .seconds(random(2000..<8000)))
            // After the day everything works, so that what is left can leave.
            while let (time, event) = events.next(), time < Self.day * 2 {
                clock.now = time
                // A day is long, and other tests wait for real clocks meanwhile.
                await Task.yield()
                try await handle(event)
                lookAround()
                if time > Self.day, try spool.scan().entries.isEmpty { break }
            }
        }

        private mutating func handle(_ event: Event) async throws {
            let isOver = clock.now > Self.day
            switch event {
            case .produce:
                guard !isOver else { return }
                let name = SegmentName(
                    priority: [.critical, .normal, .normal, .bulk].randomElement(using: &generator)!, created: clock.wall,
                    id: .random())
                try spool.put(Segments.gzip("{\"n\":\(produced.count)}\n"), as: name)
                produced.insert(name.id)
                try delivery.appeared(name.fileName, in: &state, at: clock.moment)
                events.add(.produce, at: clock.now + .seconds(random(5..<120)))
            case .network(let isUp):
                self.isUp = isUp || isOver
                _ = state.setNetwork(self.isUp ? .usable(interface: "eth0") : .noRoute, &delivery, at: clock.moment)
                if !isOver { events.add(.network(isUp: !isUp), at: clock.now + .seconds(random(10..<(isUp ? 2400 : 1200)))) }
            case .hub(let isDown):
                hub.isDown = isDown && !isOver
                events.add(.hub(isDown: !isDown), at: clock.now + .seconds(random(60..<(isDown ? 3000 : 12_000))))
            case .answer(let life, let job, let segments, let lost):
                guard life == self.life else { return }
                underWay -= 1
                delivery.finish(job, segments, answer(segments, lost: lost))
                // A slow disk: what was answered is written down later, or never, if the machine goes down first.
                events.add(.disk(life: life), at: clock.now + .milliseconds(random(0..<20_000)))
            case .disk(let life): if life == self.life { await delivery.services[0].committer.commitQueue() }
            case .look: break
            case .restart:
                life += 1
                underWay = 0
                (state, delivery) = try Self.begin(options, spool, clock)
                _ = state.setNetwork(isUp ? .usable(interface: "eth0") : .noRoute, &delivery, at: clock.moment)
                if !isOver { events.add(.restart, at: clock.now + .seconds(random(600..<8000))) }
            }
        }

        /// What the hub says, or the network does.
        private mutating func answer(_ segments: [PreparedSegment], lost: Bool) -> RequestOutcome {
            let reason = Verdict.Reason(kind: "closed", message: "the connection broke")
            guard isUp else { return .init(verdict: .withdrawn(reason)) }
            if hub.isDown {
                return .init(
                    verdict: .doubtful(.init(kind: "status", status: 503, message: "HTTP 503")),
                    trace: .init(latency: .milliseconds(40)))
            }
            for segment in segments { hub.keys[segment.facts.idempotencyKey, default: 0] += 1 }
            // The hub has it, and its answer gets lost.
            return lost
                ? .init(verdict: .doubtful(reason), trace: .init(departure: .whole))
                : .init(verdict: .delivered(status: 200), trace: .init(latency: .milliseconds(40)))
        }

        private mutating func lookAround() {
            let next = state.update(&delivery, at: clock.moment)
            if let next { events.add(.look(life: life), at: max(next, clock.now + .milliseconds(1))) }
            let claimer = SegmentClaimer(options: options.upload) { _ in }
            while case .job(let job) = delivery.next() {
                var ready: [(QueuedSegment, PreparedSegment)] = []
                for item in job.items {
                    switch claimer.prepare(item, in: spool, now: clock.wall) {
                    case .ready(let segment): ready.append((item, segment))
                    case .waits(let until, _): delivery.skip(item, of: job, .waits(until: until))
                    case .gone: delivery.skip(item, of: job, .ended)
                    default: delivery.skip(item, of: job, .taken())
                    }
                }
                guard !ready.isEmpty else {
                    delivery.state.abandon(job)
                    continue
                }
                #expect(isUp, "nothing is tried without a route")
                #expect(options.windows!.isOpen(at: clock.wall), "nothing leaves outside its window")
                requests += 1
                underWay += 1
                mostUnderWay = max(mostUnderWay, underWay)
                let left = job.with(ready.map(\.0))
                events.add(
                    .answer(life: life, left, ready.map(\.1), lost: random(0..<50) == 0),
                    at: clock.now + .milliseconds(random(20..<2000)))
            }
        }

        func check() {
            #expect(Set(hub.keys.keys) == produced, "nothing is missing, nothing is invented")
            #expect(mostUnderWay <= options.upload.parallel)
            #expect(produced.count > 1000)
            #expect(requests < produced.count * 2, "\(requests) requests for \(produced.count) segments")
            do {
                #expect(try spool.pending().isEmpty)
                #expect(try spool.files(in: [.sent]).count == produced.count)
                #expect(try spool.rejected.segments().isEmpty)
                #expect(try Set(spool.events(in: [.sent])).count == produced.count)
            } catch {
                Issue.record(error)
            }
        }
    }
}
