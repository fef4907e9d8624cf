import FerrySpool

/// Everything that a delivery knows while it runs: the spools' lanes, the plan, and what is under way.
///
/// A value without files, clocks, callbacks and random sources: times and chances are arguments, a ``SpoolView`` answers what is asked of files, and
/// what is to be done is left in ``takeEffects()``.
struct DeliveryState {
    let options: UploadOptions
    var plan: DeliveryPlan
    var health: CircuitBreaker
    var lanes: [SpoolQueue]
    /// It goes on when nothing is left: more may come.
    let isContinuous: Bool
    var isEnding = false
    var lastLane = 0
    var nextID = 0
    /// How many segments were taken to be sent.
    var started = 0
    var stopIsNoted = false
    /// A request was told when to come back while the plan was ending already.
    var wasToldToWait = false
    /// The most bytes of joined segments that the destination said it takes when it took something last; `nil`: none.
    var acceptedJoined: ByteCount?
    /// The smallest request of joined segments that was too large.
    var refusedJoined: ByteCount?
    var budget: TimeLimitBudget?
    var underWay: [DeliveryPlan.ID: DeliveryJob] = [:]
    /// Jobs that took more segments than they may need, and will put back what fills no request of theirs; and their lanes.
    var gathering: [DeliveryPlan.ID: Int] = [:]
    /// Outcomes of requests that are not judged yet.
    var held: [DeliveryPlan.ID: RequestOutcome] = [:]
    /// Judged requests whose segments are just being written down.
    var recording: Set<DeliveryPlan.ID> = []
    private var effects: [DeliveryEffect] = []

    /// - Parameter start: When the delivery begins, by the clock that all times are by.
    init(
        _ lanes: [SpoolQueue], options: UploadOptions, health: CircuitBreaker, isContinuous: Bool, start: Duration = .zero
    ) {
        self.lanes = lanes
        self.options = options
        self.health = health
        self.isContinuous = isContinuous
        plan = Self.plan(options, health)
        budget = options.timeLimit.map { TimeLimitBudget(time: $0, margin: options.timeLimitMargin, now: start) }
    }

    private static func plan(_ options: UploadOptions, _ health: CircuitBreaker) -> DeliveryPlan {
        DeliveryPlan(
            order: options.order, parallel: options.parallel, isRecovering: health.isRecovering,
            failures: health.state?.failures ?? 0, sparesHead: health.sparesHead, blame: options.blame)
    }

    /// The first folder that failed.
    var failure: FileError? { lanes.lazy.compactMap(\.failure).first }

    /// Whether a request is under way, or its outcome is just being written down.
    var isBusy: Bool { plan.isBusy || !recording.isEmpty }

    var jobsUnderWay: some Collection<DeliveryJob> { underWay.values }

    /// Returns the segments of a lane that are just being sent.
    func namesUnderWay(lane: Int) -> Set<FileName> {
        Set(underWay.values.lazy.filter { $0.lane == lane }.flatMap { $0.items.map { FileName($0.name) } })
    }

    mutating func add(_ effect: DeliveryEffect) { effects.append(effect) }

    /// Returns what is to be done, in its order, and forgets it.
    mutating func takeEffects() -> [DeliveryEffect] {
        if effects.isEmpty { return [] }
        defer { effects = [] }
        return effects
    }

    // MARK: Beginning and ending

    /// Ends a round: what no probe could clear stays unjudged.
    mutating func endRound(at now: Moment, using generator: inout some RandomNumberGenerator) {
        record(plan.exhausted(), at: now, using: &generator)
    }

    mutating func stop(_ reason: StopReason) { plan.stop(reason) }

    /// Lets the workers go when nothing is left for them.
    mutating func end() { isEnding = true }

    /// Begins anew after a stop, when the destination is due again.
    mutating func restart(at now: Moment, using generator: inout some RandomNumberGenerator) {
        guard let reason = plan.stopReason, !isBusy else { return }
        if case .off = reason { return }
        record(plan.exhausted(), at: now, using: &generator)
        plan = Self.plan(options, health)
        stopIsNoted = false
        wasToldToWait = false
    }

    /// Takes over what an earlier process found out about the destination.
    mutating func remember(_ state: RetryState, at now: Timestamp) {
        guard health.remember(state, now: now), !isBusy else { return }
        plan = Self.plan(options, health)
    }

    /// Forgets what was learnt on another network.
    mutating func forgetWaits(at now: Moment, using generator: inout some RandomNumberGenerator) {
        if health.forget(at: now.wall) { keepHealth() }
        for lane in lanes.indices {
            lanes[lane].forgetTries()
            lanes[lane].forgetsWaitsBefore = now.wall
            lanes[lane].wake(at: now.wall, all: true)
        }
        restart(at: now, using: &generator)
    }

    /// Has what is known of the destination written where the next process looks for it.
    mutating func keepHealth() {
        for lane in lanes.indices where lanes[lane].failure == nil { add(.keepHealth(lane: lane)) }
    }
}

/// The spools of a delivery.
extension DeliveryState {
    /// A spool joins, as the next lane or in the place of one that is gone.
    mutating func join(_ fresh: SpoolQueue, as lane: Int) {
        if lane < lanes.count { lanes[lane] = fresh } else { lanes.append(fresh) }
    }

    /// Whether a job belongs to the spool that its lane is for now.
    func isCurrent(_ job: DeliveryJob) -> Bool { lanes[job.lane].spool == job.spool }

    /// A job's folder failed.
    mutating func fail(_ error: FileError, _ job: DeliveryJob) { if isCurrent(job) { fail(error, lane: job.lane) } }

    mutating func fail(_ error: FileError, lane: Int) {
        lanes[lane].failure = lanes[lane].failure ?? error
        if !isContinuous { plan.stop(.localFailure) }
    }

    /// Queues segments that appeared, by the order of all.
    mutating func appeared(_ found: [FoundSegment], in lane: Int) {
        let underWay = namesUnderWay(lane: lane)
        for segment in found where !underWay.contains(FileName(segment.name)) {
            if let newcomer = lanes[lane].appeared(segment) { lanes[lane].enqueue(newcomer) }
        }
    }

    /// Whether a lane has nothing left that may leave.
    ///
    /// - Parameter gate: What its schedule lets through.
    mutating func isDrained(lane: Int, gate: SendGate) -> Bool {
        guard gate != .closed, lanes[lane].failure == nil, !underWay.values.contains(where: { $0.lane == lane }) else {
            return false
        }
        lanes[lane].gate = gate
        return isHeldUp(lane) || lanes[lane].nextRank() == nil
    }

    /// When a lane goes on that is held up by what failed; `nil` when none is.
    func headWaits(lane: Int) -> Timestamp? {
        guard options.order == .strict else { return nil }
        return lanes[lane].waiting.values.lazy.filter(\.hasSidecar).compactMap(\.wait?.until).min()
    }

    /// In strict order a waiting segment blocks those behind it.
    func isHeldUp(_ lane: Int) -> Bool { options.order == .strict && !lanes[lane].waiting.isEmpty }
}
