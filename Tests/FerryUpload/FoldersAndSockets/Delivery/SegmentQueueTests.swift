import FerrySpool
import TestSupport
import Testing

@testable import FerryUpload

@Suite("The queue of a spool's segments")
struct SegmentQueueTests {
    private let folder = TemporaryFolder()

    /// A queue over these priorities and seconds.
    private func queue(_ spool: Spool, _ segments: [(Int, Int)]) throws -> SegmentQueue {
        for (priority, second) in segments { try spool.put(Segments.gzip("{}\n"), as: Segments.name(priority, second: second)) }
        return SegmentQueue(try spool.scan(sizes: true))
    }

    private func order(_ queue: inout SegmentQueue, _ rules: SegmentQueue.Rules = .everything) -> [String] {
        var order: [String] = []
        while let index = queue.next(rules) {
            let entry = queue.listing.entries[index]
            order.append("\(entry.priority.level):\((entry.created - Segments.name().created).wholeMilliseconds / 1000)")
            queue.take(index)
        }
        return order
    }

    private struct Missing: Error {}

    private func services(_ spool: Spool) throws -> SpoolServices {
        let options = UploadOptions(destination: try DestinationURL("http://hub/"))
        return SpoolServices(SpoolLease(spool), options: options, now: Timestamp.now) { _ in }
    }

    private func moment(_ second: Int) -> Timestamp { Segments.name(second: second).created }

    @Test("Probes are taken out of order, the rest stays in order, nothing comes twice")
    func probes() throws {
        var queue = try queue(try folder.spool(), (0..<5).map { (5, $0) })
        func take(_ index: Int?) -> Int? {
            if let index { queue.take(index) }
            return index
        }
        #expect(take(queue.next()) == 0)
        var generator = Seeded(seed: 1)
        #expect(take(queue.probe(using: &generator) { [1: 3, 2: 1, 4: 1][$0] ?? 0 }?.index) == 3)
        #expect(take(queue.next()) == 1)
        #expect(take(queue.probe(using: &generator) { $0 == 2 ? 4 : 9 }?.index) == 2)
        #expect(take(queue.next()) == 4)
        #expect(queue.next() == nil)
        #expect(queue.probe(using: &generator) { _ in 0 } == nil)
    }

    @Test("A probe comes from anywhere in what may leave, and was tried least")
    func probeFromAnywhere() throws {
        var queue = try queue(try folder.spool(), [(0, 1), (0, 2), (5, 3), (9, 4)])
        func probes(_ rules: SegmentQueue.Rules = .everything, _ attempts: (Int) -> Int) -> Set<Int?> {
            Set(
                (0..<40).map { seed in
                    var generator = Seeded(seed: UInt64(seed))
                    return queue.probe(rules, using: &generator, attempts: attempts)?.index
                })
        }
        #expect(probes { _ in 0 } == [0, 1, 2, 3])
        #expect(probes(.init(lowest: .critical)) { _ in 0 } == [0, 1])
        #expect(probes { $0 == 3 ? 0 : 1 } == [3])
    }

    @Test("Of very many that were tried, the few that were not are found")
    func probeAmongTried() throws {
        var listing = try queue(try folder.spool(), [(5, 1)]).listing
        listing.entries = Array(repeating: listing.entries[0], count: 3000)
        var queue = SegmentQueue(listing)
        var generator = Seeded(seed: 3)
        let probe = queue.probe(using: &generator) { (1500..<1600).contains($0) ? 0 : 1 }
        #expect(probe?.attempts == 0)
    }

    /// Returns how many passes it takes until a sound segment has left: those whose indices are in `sound`.
    private func passes(_ listing: SpoolListing, sound: Range<Int>, seed: Int) -> Int {
        let reason = Verdict.Reason(kind: "status", status: 500, message: "HTTP 500")
        var generator = Seeded(seed: UInt64(seed))
        var attempts: [Int: Int] = [:]
        for pass in 0..<50 {
            var queue = SegmentQueue(listing)
            var plan = DeliveryPlan(order: .priority, parallel: 1, isRecovering: pass > 0, sparesHead: pass >= 3)
            var sent = 0
            loop: while true {
                let index: Int?
                let step = plan.next()
                switch step {
                case .sendNext: index = queue.next()
                case .sendProbe: index = queue.probe(using: &generator) { attempts[$0] ?? 0 }?.index
                case .wait, .stop: break loop
                }
                guard let index else { break }
                queue.take(index)
                plan.start(index, isProbe: step == .sendProbe)
                let verdict = sound.contains(index) ? Verdict.delivered(status: 200) : .doubtful(reason)
                for judgement in plan.finish(index, verdict) {
                    switch judgement {
                    case .delivered: sent += 1
                    case .destinationAtFault(let id): attempts[id, default: 0] += 1
                    default: break
                    }
                }
            }
            if sent > 0 { return pass + 1 }
        }
        return .max
    }

    @Test("Bad segments at both ends of the line stop those between them for a few passes at most")
    func badAtBothEnds() throws {
        let listing = try queue(try folder.spool(), (0..<46).map { (5, $0) }).listing
        let counts = (0..<40).map { passes(listing, sound: 4..<34, seed: $0) }
        #expect(counts.allSatisfy { $0 <= 7 })
    }

    @Test("What missed its deadline lets others of its priority go first, and no other priority")
    func late() throws {
        var queue = try queue(try folder.spool(), [(0, 1), (0, 9), (5, 2), (5, 3), (5, 8), (5, 9), (9, 1)])
        let rules = SegmentQueue.Rules(lateBefore: moment(5))
        #expect(order(&queue, rules) == ["0:9", "0:1", "5:8", "5:9", "5:2", "5:3", "9:1"])
    }

    @Test("Held back, late segments stay in the queue")
    func hold() throws {
        var queue = try queue(try folder.spool(), [(0, 1), (5, 2), (5, 8), (9, 1), (9, 7)])
        #expect(order(&queue, .init(lateBefore: moment(5), sendsLate: false)) == ["5:8", "9:7"])
        #expect(order(&queue) == ["0:1", "5:2", "9:1"])
    }

    @Test("When only critical segments may leave, the others stay")
    func critical() throws {
        var queue = try queue(try folder.spool(), [(0, 1), (0, 2), (1, 0), (5, 0)])
        #expect(order(&queue, .init(lowest: .critical)) == ["0:1", "0:2"])
        #expect(order(&queue) == ["1:0", "5:0"])
    }

    @Test("What appears is put in its place, even before what has left already")
    func insert() throws {
        let spool = try folder.spool()
        var queue = try queue(spool, [(5, 3), (5, 6), (5, 9)])
        if let index = queue.next() { queue.take(index) }
        for (priority, second) in [(5, 1), (0, 8), (5, 7), (9, 0)] {
            let name = try spool.put(Segments.gzip("{}\n"), as: Segments.name(priority, second: second))
            let found = try #require(try services(spool).find(name))
            #expect(found.entry.priority.level == UInt8(priority))
            queue.insert(name, found.entry, hasSidecar: false)
        }
        #expect(try services(spool).find("no-segment.txt") == nil)
        #expect(order(&queue) == ["0:8", "5:1", "5:6", "5:7", "5:9", "9:0"])
    }

    @Test("What waits comes back when its time has come, and when the clock was set back by days")
    func waiting() throws {
        let spool = try folder.spool()
        let now = moment(0)
        let view = try services(spool)
        var queue = SpoolQueue(longestWait: BackOff.standard.longestWait)
        for second in 0..<3 { try spool.put(Segments.gzip("{}\n"), as: Segments.name(second: second)) }
        queue.begin(try spool.scan(sizes: true))
        for until in [now + .seconds(60), now + .seconds(3 * 86_400)] {
            guard let item = queue.takeNext(seeing: view) else { throw Missing() }
            queue.setAside(item, hasSidecar: false, Wait(since: now, until: until))
        }
        var queued: [Int] = []
        for moment in [now, now + .seconds(59), now + .seconds(60)] {
            queue.wake(at: moment)
            queued.append(queue.queue.remaining.reduce(0) { count, _ in count + 1 })
        }
        #expect(queued == [2, 2, 3])
        #expect(queue.waiting.isEmpty)
    }

    @Test("A clock that is set back by hours while a segment waits makes it wait no longer")
    func clockSetBackWhileWaiting() throws {
        let spool = try folder.spool()
        let now = moment(0)
        let view = try services(spool)
        var queue = SpoolQueue(longestWait: BackOff.standard.longestWait)
        try spool.put(Segments.gzip("{}\n"), as: Segments.name())
        queue.begin(try spool.scan(sizes: true))
        guard let item = queue.takeNext(seeing: view) else { throw Missing() }
        queue.setAside(item, hasSidecar: false, Wait(since: now, until: now + .seconds(10)))
        queue.wake(at: now - .seconds(30))
        #expect(queue.waiting.values.count == 1)
        queue.wake(at: now - .seconds(3 * 3600))
        #expect(queue.waiting.isEmpty)
        #expect(queue.queue.contains(item.name))
    }

    @Test("Whatever comes and goes, in whatever order: each leaves once, the most urgent first")
    func property() throws {
        var generator = Seeded(seed: 5)
        let spool = try folder.spool()
        let names = try (0..<60).map { index in
            try spool.put(Segments.gzip("{}\n"), as: Segments.name([0, 5, 9][index % 3], second: index * 7 % 20))
        }
        let services = try services(spool)
        let entries = try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try #require(try services.find($0)).entry) })
        for _ in 0..<200 {
            var queue = SegmentQueue()
            var waiting = names.shuffled(using: &generator)
            var inside: Set<String> = []
            var left: [String] = []
            while left.count < names.count {
                if let name = waiting.popLast(), Bool.random(using: &generator) || inside.isEmpty {
                    queue.insert(name, try #require(entries[name]), hasSidecar: false)
                    inside.insert(name)
                } else {
                    let rules = SegmentQueue.Rules(lateBefore: Bool.random(using: &generator) ? moment(10) : nil)
                    guard let index = queue.next(rules) else { throw Missing() }
                    let name = queue.listing.name(of: queue.listing.entries[index])
                    #expect(inside.allSatisfy { SegmentName($0)!.priority >= SegmentName(name)!.priority })
                    if rules.lateBefore == nil { #expect(inside.min() == name) }
                    queue.take(index)
                    inside.remove(name)
                    left.append(name)
                }
                if waiting.isEmpty, inside.isEmpty { break }
            }
            #expect(Set(left).count == left.count)
        }
    }

    @Test("A pass waits for the last of the files that were just copied in, and for none that is given minutes")
    func settling() {
        let now = Timestamp(milliseconds: 1_000_000)
        var summary = RoundSummary()
        for seconds in [4, 600, 5, 3] { summary.noteBeingWritten(until: now + .seconds(seconds), now: now) }
        #expect(summary.readyAt == now + .seconds(5))
    }
}
