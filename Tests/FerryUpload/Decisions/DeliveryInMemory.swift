import Synchronization

@testable import FerrySpool
@testable import FerryUpload

/// A spool as decisions see it: names, and what their sidecars say.
final class FolderInMemory: SpoolView {
    private let sidecars = Mutex<[String: RetryState?]>([:])

    var names: [String] { sidecars.withLock { Array($0.keys) } }
    func contains(_ name: String) -> Bool { sidecars.withLock { $0[name] != nil } }
    func sidecar(of name: String) -> RetryState? { sidecars.withLock { $0[name] ?? nil } }
    func size(of name: String) -> ByteCount? { contains(name) ? ByteCount(100) : nil }
    func put(_ name: String, _ sidecar: RetryState? = nil) { sidecars.withLock { $0[name] = .some(sidecar) } }
    func remove(_ name: String) { sidecars.withLock { _ = $0.removeValue(forKey: name) } }

    func found(_ name: String) -> FoundSegment? {
        guard contains(name), let segment = SegmentName(name) else { return nil }
        let entry = SpoolListing.Entry(
            priority: segment.priority, created: segment.created, nameStart: 0, nameLength: 0, isForeign: false,
            size: ByteCount(100))
        return FoundSegment(name: name, entry: entry)
    }

    func listing() -> SpoolListing {
        var listing = SpoolListing()
        for name in names.sorted() {
            guard let found = found(name) else { continue }
            _ = listing.insert(name, like: found.entry, hasSidecar: sidecar(of: name) != nil, after: 0)
        }
        return listing
    }
}

/// A delivery from a folder in memory: what is to be written down is, at once.
struct DeliveryInMemory {
    var state: DeliveryState
    let folder: FolderInMemory
    private(set) var delivered: [String] = []
    private(set) var rejected: [String] = []
    /// What requests that ended were judged to be, in their order.
    private(set) var judgements: [DeliveryPlan.Judgement] = []
    /// How often what is known of the destination was to be written.
    private(set) var savedBreakers = 0
    private let rules: SidecarRules

    init(
        _ folder: FolderInMemory, options: UploadOptions, breaker: CircuitBreaker? = nil, isContinuous: Bool = true
    ) {
        self.folder = folder
        rules = SidecarRules(options)
        var queue = SpoolQueue(longestWait: options.backOff.longestWait)
        queue.begin(folder.listing())
        state = DeliveryState(
            [queue], options: options, breaker: breaker ?? CircuitBreaker(options), isContinuous: isContinuous)
    }

    mutating func next(at now: Moment, using generator: inout some RandomNumberGenerator) -> DeliveryJob? {
        let step = state.next(seeing: [folder], at: now, using: &generator)
        carryOut(at: now, using: &generator)
        if case .job(let job) = step { return job }
        return nil
    }

    mutating func finish(
        _ job: DeliveryJob, _ outcome: RequestOutcome, at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        let attempt = (job.items.first.flatMap { folder.sidecar(of: $0.name) }?.attempts ?? 0) + 1
        state.finish(job, outcome, attempt: attempt, at: now, using: &generator)
        carryOut(at: now, using: &generator)
    }

    mutating func carryOut(at now: Moment, using generator: inout some RandomNumberGenerator) {
        for effect in state.takeEffects() {
            switch effect {
            case .saveBreaker: savedBreakers += 1
            case .record(let request):
                judgements.append(request.judgement)
                let chance = Double.random(in: 0...1, using: &generator)
                let aftermaths = request.job.items.map { record($0.name, request, at: now.wall, chance) }
                state.recorded(request, aftermaths, at: now.wall)
            }
        }
    }

    private mutating func record(
        _ name: String, _ request: JudgedRequest, at now: Timestamp, _ chance: Double
    ) -> Aftermath {
        let attempt = SidecarRules.Try(
            outcome: request.outcome, events: 1, previous: folder.sidecar(of: name), time: now, chance: chance)
        let decision: SidecarRules.Decision
        switch request.judgement {
        case .delivered:
            delivered.append(name)
            folder.remove(name)
            return .ended
        case .refused, .split:
            rejected.append(name)
            folder.remove(name)
            return .ended
        case .segmentAtFault: decision = rules.backOff(attempt, isProven: true)
        case .undetermined: decision = rules.backOff(attempt, isProven: false)
        case .destinationAtFault: decision = rules.waitForDestination(attempt, until: request.destinationWaitsUntil)
        case .untouched: decision = rules.leave(attempt)
        }
        switch decision {
        case .wait(let sidecar, _):
            folder.put(name, sidecar)
            return .waits(until: sidecar.nextAttemptAt)
        case .exhausted:
            rejected.append(name)
            folder.remove(name)
            return .ended
        case .nothing: return .asBefore(hasSidecar: folder.sidecar(of: name) != nil)
        }
    }
}
