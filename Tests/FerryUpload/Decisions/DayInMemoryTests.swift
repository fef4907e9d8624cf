import TestSupport
import Testing

@testable import FerrySpool
@testable import FerryUpload

/// Twenty-four hours of a machine with a bad network and restarts, by a virtual clock, without a folder: the same decisions as on a real one.
@Suite("A simulated day, decided alone")
struct DayInMemoryTests {
    private enum Event {
        case produce
        case network(isUp: Bool)
        case hub(isDown: Bool)
        case answer(life: Int, DeliveryJob, isLost: Bool)
        case look(life: Int)
        case restart
    }

    @Test("Every segment arrives, and few requests are made in vain", arguments: 1...10 as ClosedRange<UInt64>)
    func day(_ seed: UInt64) throws {
        var simulation = try Simulation(seed: seed)
        simulation.run()
        #expect(simulation.arrived == simulation.produced)
        #expect(simulation.folder.names.isEmpty)
        #expect(simulation.delivery.rejected.isEmpty)
        #expect(simulation.produced.count > 1000)
        #expect(simulation.requests < simulation.produced.count * 2)
        #expect(simulation.mostUnderWay <= simulation.options.upload.parallel)
        #expect(simulation.triedInVain == 0, "nothing is tried without a route")
    }

    private struct Simulation {
        let folder = FolderInMemory()
        let options: RunOptions
        var generator: Seeded
        var events = EventQueue<Event>()
        var now = Duration.zero
        var (isUp, isDown) = (true, false)
        var produced: Set<String> = []
        var arrived: Set<String> = []
        /// Counts restarts: what was under way in an earlier life never ends.
        var life = 0
        var state: RunState
        var delivery: DeliveryInMemory
        var (underWay, mostUnderWay, requests, triedInVain) = (0, 0, 0, 0)
        static let day = Duration.seconds(86_400)
        static let origin = Timestamp(rfc3339: "2026-03-28T12:00:00Z")!
        var moment: Moment { Moment(wall: Self.origin + now, steady: now) }

        init(seed: UInt64) throws {
            generator = Seeded(seed: seed)
            let upload = UploadOptions(destination: try DestinationURL("http://hub/v1/segments"))
            options = RunOptions(
                upload: upload, schedule: SchedulePolicy(interval: .seconds(120), events: 200, criticalDelay: .seconds(3)))
            (state, delivery) = Self.begin(options, folder)
        }

        private static func begin(_ options: RunOptions, _ folder: FolderInMemory) -> (RunState, DeliveryInMemory) {
            var state = RunState(options)
            state.add(SpoolControl())
            return (state, DeliveryInMemory(folder, options: options.upload))
        }

        mutating func seconds(_ range: Range<Int>) -> Duration { .seconds(Int.random(in: range, using: &generator)) }

        mutating func run() {
            events.add(.produce, at: .zero)
            events.add(.network(isUp: false), at: seconds(100..<3000))
            events.add(.hub(isDown: true), at: seconds(5000..<20_000))
            events.add(.restart, at: seconds(2000..<8000))
            // After the day everything works, so that what is left can leave.
            while let (time, event) = events.next(), time < Self.day * 2 {
                now = time
                handle(event)
                lookAround()
                if time > Self.day, folder.names.isEmpty { break }
            }
        }

        private mutating func handle(_ event: Event) {
            let isOver = now > Self.day
            switch event {
            case .produce:
                guard !isOver else { return }
                let name = SegmentName(
                    priority: [.critical, .normal, .normal, .bulk].randomElement(using: &generator)!, created: moment.wall,
                    id: .random())
                folder.put(name.fileName)
                produced.insert(name.fileName)
                if let found = folder.found(name.fileName) { state.appeared(found, in: 0, &delivery.state, at: moment) }
                events.add(.produce, at: now + seconds(5..<120))
            case .network(let isUp):
                self.isUp = isUp || isOver
                setNetwork()
                if !isOver { events.add(.network(isUp: !isUp), at: now + seconds(10..<(isUp ? 2400 : 1200))) }
            case .hub(let isDown):
                self.isDown = isDown && !isOver
                events.add(.hub(isDown: !isDown), at: now + seconds(60..<(isDown ? 3000 : 12_000)))
            case .answer(let life, let job, let isLost):
                guard life == self.life else { return }
                underWay -= 1
                delivery.finish(job, answer(job, isLost), at: moment, using: &generator)
            case .look: break
            case .restart:
                life += 1
                underWay = 0
                (state, delivery) = Self.begin(options, folder)
                setNetwork()
                if !isOver { events.add(.restart, at: now + seconds(600..<8000)) }
            }
        }

        private mutating func setNetwork() {
            let verdict: NetworkVerdict = isUp ? .usable(interface: "eth0") : .noRoute
            _ = state.setNetwork(verdict, &delivery.state, at: moment, using: &generator)
            delivery.carryOut(at: moment, using: &generator)
        }

        /// What the hub says, or the network does.
        private mutating func answer(_ job: DeliveryJob, _ isLost: Bool) -> RequestOutcome {
            let reason = Verdict.Reason(kind: "closed", message: "the connection broke")
            guard isUp else { return .init(verdict: .withdrawn(reason)) }
            if isDown {
                return .init(
                    verdict: .doubtful(.init(kind: "status", status: 503, message: "HTTP 503")),
                    trace: .init(latency: .milliseconds(40)))
            }
            arrived.formUnion(job.items.map(\.name))
            // The hub has it, and its answer gets lost.
            return isLost
                ? .init(verdict: .doubtful(reason), trace: .init(departure: .whole))
                : .init(verdict: .delivered(status: 200), trace: .init(latency: .milliseconds(40)))
        }

        private mutating func lookAround() {
            for (spool, newcomer) in state.wake(&delivery.state, at: moment) {
                state.place(newcomer, in: spool, &delivery.state, at: moment)
            }
            let next = state.update(&delivery.state, at: moment, using: &generator)
            delivery.carryOut(at: moment, using: &generator)
            if let next { events.add(.look(life: life), at: max(next, now + .milliseconds(1))) }
            while let job = delivery.next(at: moment, using: &generator) { send(job) }
        }

        private mutating func send(_ job: DeliveryJob) {
            var ready: [QueuedSegment] = []
            for item in job.items {
                guard folder.contains(item.name) else {
                    delivery.state.skip(item, of: job, .ended, at: moment.wall)
                    continue
                }
                if let until = wait(of: item) {
                    delivery.state.skip(item, of: job, .waits(until: until), at: moment.wall)
                } else {
                    ready.append(item)
                }
            }
            guard !ready.isEmpty else { return delivery.state.abandon(job) }
            if !isUp { triedInVain += 1 }
            requests += 1
            underWay += 1
            mostUnderWay = max(mostUnderWay, underWay)
            let isLost = Int.random(in: 0..<50, using: &generator) == 0
            let time = now + .milliseconds(Int.random(in: 20..<2000, using: &generator))
            events.add(.answer(life: life, job.with(ready), isLost: isLost), at: time)
        }

        /// Until when a segment waits by itself, as its claim would find.
        private func wait(of item: QueuedSegment) -> Timestamp? {
            guard let sidecar = folder.sidecar(of: item.name), sidecar.lastError.scope == .segment,
                sidecar.lastAttemptAt >= item.forgetsWaitsBefore ?? sidecar.lastAttemptAt
            else { return nil }
            return sidecar.wait(at: moment.wall, longestWait: options.upload.backOff.longestWait)
        }
    }
}
