import FerrySpool

@testable import FerryUpload

/// A delivery over real folders, whose effects are carried out at once.
@dynamicMemberLookup
struct FolderDelivery {
    var state: DeliveryState
    let services: [SpoolServices]
    private let now: @Sendable () -> Timestamp
    private var prepared: [DeliveryPlan.ID: [PreparedSegment]] = [:]

    /// - Parameter isScanned: Whether what is pending now is queued.
    init(
        _ spools: [Spool], options: UploadOptions, breaker: CircuitBreaker? = nil, isContinuous: Bool = true,
        isScanned: Bool = true, now: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) throws {
        self.now = now
        services = spools.map { SpoolServices(SpoolLease($0), options: options, now: now) { _ in } }
        let queues = try spools.enumerated().map { index, spool in
            var queue = SpoolQueue(spool: index, longestWait: options.backOff.longestWait)
            if isScanned { queue.begin(try spool.scan(sizes: true)) }
            return queue
        }
        state = DeliveryState(
            queues, options: options, breaker: breaker ?? CircuitBreaker(options), isContinuous: isContinuous)
    }

    subscript<Value>(dynamicMember path: WritableKeyPath<DeliveryState, Value>) -> Value {
        get { state[keyPath: path] }
        set { state[keyPath: path] = newValue }
    }

    subscript<Value>(dynamicMember path: KeyPath<DeliveryState, Value>) -> Value { state[keyPath: path] }

    var moment: Moment { Moment(wall: now(), steady: .zero) }

    mutating func next() -> DeliveryState.Step {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }

    mutating func next(using generator: inout some RandomNumberGenerator) -> DeliveryState.Step {
        defer { carryOut() }
        return state.next(seeing: services, at: moment, using: &generator)
    }

    mutating func skip(_ item: QueuedSegment, of job: DeliveryJob, _ reason: SkipReason) {
        state.skip(item, of: job, reason, at: now())
    }

    mutating func mayStart(_ job: DeliveryJob) -> Bool { state.mayStart(job, at: .zero) }

    func mayGetBack(_ requests: Set<String>, beside names: [String], of job: DeliveryJob, isOneTaken: Bool) -> Bool {
        state.mayGetBack(requests, beside: names, of: job, isOneTaken: isOneTaken, seeing: services[job.queue])
    }

    mutating func finish(_ job: DeliveryJob, _ segments: [PreparedSegment], _ outcome: RequestOutcome) {
        var generator = SystemRandomNumberGenerator()
        prepared[job.id] = segments
        state.finish(job, outcome, attempt: segments.first?.attempt ?? 1, at: moment, using: &generator)
        carryOut()
    }

    /// Queues a segment that appeared, as the run's state would have it.
    mutating func appeared(_ name: String, in run: inout RunState, at now: Moment) throws {
        if let found = try services[0].find(name) { run.appeared(found, in: 0, &state, at: now) }
    }

    mutating func carryOut() {
        for effect in state.takeEffects() {
            switch effect {
            case .record(let request):
                let segments = prepared.removeValue(forKey: request.job.id) ?? []
                let (aftermaths, _) = services[request.job.queue].recorder.record(request, segments)
                state.recorded(request, aftermaths, at: now())
            case .saveBreaker(let queue):
                let spool = try? services[queue].lease.spool()
                try? spool?.destinations.setState(state.breaker.state, state.breaker.id)
            }
        }
    }
}

extension RunState {
    mutating func update(_ delivery: inout FolderDelivery, at now: Moment) -> Duration? {
        var generator = SystemRandomNumberGenerator()
        defer { delivery.carryOut() }
        for (queue, newcomer) in wake(&delivery.state, at: now) { place(newcomer, in: queue, &delivery.state, at: now) }
        return update(&delivery.state, at: now, using: &generator)
    }

    mutating func setNetwork(
        _ verdict: NetworkVerdict, isFirst: Bool = false, _ delivery: inout FolderDelivery, at now: Moment
    ) -> Bool {
        var generator = SystemRandomNumberGenerator()
        defer { delivery.carryOut() }
        return setNetwork(verdict, isFirst: isFirst, &delivery.state, at: now, using: &generator)
    }
}
