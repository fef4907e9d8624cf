import FerrySpool

/// Everything that a delivery knows while it runs: a queue for each spool, the plan, the circuit breaker, and what is under way.
///
/// A value without files, clocks, callbacks and random sources: times and chances are arguments, a ``SpoolView`` answers what is asked of files, and
/// what is to be done is left in ``takeEffects()``.
struct DeliveryState {
    let options: UploadOptions
    var plan: DeliveryPlan
    var breaker: CircuitBreaker
    var queues: [SpoolQueue]
    /// Whether it goes on when nothing is left: more may come.
    let isContinuous: Bool
    var isEnding = false
    var lastQueue = 0
    private(set) var liveShare = LiveShare()
    var nextID = 0
    /// How many segments were taken to be sent.
    var started = 0
    var stopIsNoted = false
    /// Whether an answer had `Retry-After` while the plan was ending already.
    var wasToldToWait = false
    /// The most bytes of joined segments that the destination said it takes when it took something last; `nil`: none.
    var acceptedJoined: ByteCount?
    /// The smallest request of joined segments that was too large.
    var refusedJoined: ByteCount?
    var budget: TimeLimitBudget?
    var underWay: [DeliveryPlan.ID: DeliveryJob] = [:]
    /// The queues of jobs that took more segments than they may need, and will put back what fills no request of theirs.
    var gathering: [DeliveryPlan.ID: Int] = [:]
    /// Outcomes of requests that are not judged yet.
    var outcomes: [DeliveryPlan.ID: RequestOutcome] = [:]
    /// Judged requests whose segments are just being written down.
    var recording: Set<DeliveryPlan.ID> = []
    private var effects: [DeliveryEffect] = []

    /// - Parameter start: When the delivery begins, by the clock that all times are by.
    init(
        _ queues: [SpoolQueue], options: UploadOptions, breaker: CircuitBreaker, isContinuous: Bool, start: Duration = .zero
    ) {
        self.queues = queues
        self.options = options
        self.breaker = breaker
        self.isContinuous = isContinuous
        plan = Self.plan(options, breaker)
        budget = options.timeLimit.map { TimeLimitBudget(time: $0, margin: options.timeLimitMargin, now: start) }
    }

    private static func plan(_ options: UploadOptions, _ breaker: CircuitBreaker) -> DeliveryPlan {
        DeliveryPlan(
            order: options.order, parallel: options.parallel, isRecovering: breaker.isRecovering,
            failures: breaker.state?.failures ?? 0, sparesHead: breaker.sparesHead, blame: options.blame)
    }

    /// The first folder that failed.
    var failure: FileError? { queues.lazy.compactMap(\.failure).first }

    /// Whether a request is under way, or its outcome is just being written down.
    var isBusy: Bool { plan.isBusy || !recording.isEmpty }

    var jobsUnderWay: some Collection<DeliveryJob> { underWay.values }

    /// Returns the segments of a queue that are just being sent.
    func namesUnderWay(queue: Int) -> Set<FileName> {
        Set(underWay.values.lazy.filter { $0.queue == queue }.flatMap { $0.items.map { FileName($0.name) } })
    }

    mutating func add(_ effect: DeliveryEffect) { effects.append(effect) }

    /// Returns what is to be done, in its order, and forgets it.
    mutating func takeEffects() -> [DeliveryEffect] {
        if effects.isEmpty { return [] }
        defer { effects = [] }
        return effects
    }

    // MARK: Beginning and ending

    /// Ends a round: what no probe could clear stays undetermined.
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
        plan = Self.plan(options, breaker)
        stopIsNoted = false
        wasToldToWait = false
    }

    /// Takes over what an earlier process found out about the destination.
    mutating func remember(_ state: RetryState, at now: Timestamp) {
        guard breaker.remember(state, now: now), !isBusy else { return }
        plan = Self.plan(options, breaker)
    }

    /// Forgets what was learnt on another network.
    mutating func forgetWaits(at now: Moment, using generator: inout some RandomNumberGenerator) {
        if breaker.forget(at: now.wall) { saveBreaker() }
        for queue in queues.indices {
            queues[queue].forgetTries()
            queues[queue].forgetsWaitsBefore = now.wall
            queues[queue].hold?.end(at: now.wall)
            queues[queue].wake(at: now.wall, all: true)
        }
        restart(at: now, using: &generator)
    }

    /// Has what is known of the destination written where the next process looks for it.
    mutating func saveBreaker() {
        for queue in queues.indices where queues[queue].failure == nil { add(.saveBreaker(queue: queue)) }
    }
}

/// The spools of a delivery.
extension DeliveryState {
    /// Adds a spool's queue as the next one, or in the place of one whose spool is gone.
    mutating func join(_ fresh: SpoolQueue, as queue: Int) {
        if queue < queues.count { queues[queue] = fresh } else { queues.append(fresh) }
    }

    /// Returns whether a job belongs to the spool that its queue is for now.
    func isCurrent(_ job: DeliveryJob) -> Bool { queues[job.queue].spool == job.spool }

    /// Notes that the spool of a job failed, unless the queue is for another spool by now.
    mutating func fail(_ error: FileError, _ job: DeliveryJob) { if isCurrent(job) { fail(error, queue: job.queue) } }

    mutating func fail(_ error: FileError, queue: Int) {
        queues[queue].failure = queues[queue].failure ?? error
        if !isContinuous { plan.stop(.localFailure) }
    }

    /// Notes that the lanes of a job's spool cannot be used, or can again (`nil`): then everything that waited for them is due.
    mutating func noteLanes(_ trouble: String?, _ job: DeliveryJob, at now: Timestamp) {
        guard isContinuous, isCurrent(job) else { return }
        if let trouble { return queues[job.queue].hold(trouble, at: now) }
        queues[job.queue].hold = nil
        queues[job.queue].forgetTries()
        queues[job.queue].forgetsWaitsBefore = now
        queues[job.queue].wake(at: now, all: true)
    }

    /// Queues segments that appeared, by the order of all.
    mutating func appeared(_ found: [FoundSegment], in queue: Int) {
        let underWay = namesUnderWay(queue: queue)
        for segment in found where !underWay.contains(FileName(segment.name)) {
            if let newcomer = queues[queue].appeared(segment) { queues[queue].enqueue(newcomer) }
        }
    }

    /// Returns whether a queue has nothing left that may leave.
    ///
    /// - Parameter gate: What its schedule lets through.
    mutating func isDrained(queue: Int, gate: SendGate) -> Bool {
        guard gate != .closed, queues[queue].failure == nil, !underWay.values.contains(where: { $0.queue == queue }) else {
            return false
        }
        queues[queue].gate = gate
        return isHeldUp(queue) || queues[queue].nextRank() == nil
    }

    /// Returns when a queue goes on whose first segment failed, in strict order; `nil` when no failed segment blocks it.
    func headWaits(queue: Int) -> Timestamp? {
        guard options.order == .strict else { return nil }
        return queues[queue].waiting.values.lazy.filter(\.hasSidecar).compactMap(\.wait?.until).min()
    }

    /// Lets what is live go first, or the backlog in its turn.
    mutating func prepareTurn(at now: Timestamp) {
        guard options.order == .live else { return }
        for queue in queues.indices {
            queues[queue].rules.liveSince = LiveShare.liveSince(at: now)
            queues[queue].rules.takesBacklog = liveShare.isBacklogsTurn
        }
    }

    /// Notes whose turn it was.
    mutating func noteTurn(of item: QueuedSegment, in queue: Int) {
        guard options.order == .live else { return }
        liveShare.took(backlog: queues[queue].rules.isBacklog(item.entry.created))
    }

    /// Returns whether a waiting segment blocks those behind it, as in strict order.
    func isHeldUp(_ queue: Int) -> Bool { options.order == .strict && !queues[queue].waiting.isEmpty }
}
