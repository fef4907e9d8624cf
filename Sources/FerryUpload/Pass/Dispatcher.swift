import FerrySpool

/// Hands segments to the workers of a pass, and their outcomes to the plan and the books.
actor Dispatcher {
    /// A segment to send, by its number in the pass.
    struct Job: Sendable {
        let id: PassPlan.ID
        let name: String
        let hasSidecar: Bool
        /// The scan saw journals.
        let mayBeUnfinished: Bool
        /// The scan saw what may be its half.
        let mayBeHalfSplit: Bool
        /// When the scan began.
        let scannedAt: Timestamp
    }

    private let spool: Spool
    private let options: UploadOptions
    private let bookkeeper: Bookkeeper
    private let now: @Sendable () -> Timestamp
    private var plan: PassPlan
    private var health: DestinationHealth
    private var listing = SpoolListing()
    private var queue = SendQueue(count: 0)
    /// Numbers go on from round to round.
    private var firstID = 0
    private var held: [PassPlan.ID: (segment: PreparedSegment, verdict: Verdict)] = [:]
    /// Failed in this pass: one try a pass is enough, whatever its wait.
    private var failed: Set<String> = []
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var started = 0
    private(set) var tally = Tally()
    private(set) var failure: FileError?

    /// Why a segment was not sent.
    enum SkipReason: Sendable {
        /// Its back-off is not over, or it cannot be opened.
        case waits
        /// It may be still being written.
        case settles(until: Timestamp)
        /// Somebody else has it.
        case taken
        /// It ended without the destination.
        case ended
    }

    /// What a round left behind.
    struct Tally: Sendable {
        /// Segments that ended, or that somebody else ended.
        var ended = 0
        /// Taken by somebody else.
        var taken = 0
        /// The earliest moment at which a file that may be still being written can be looked at again.
        var settlesAt: Timestamp?
    }

    init(
        spool: Spool, options: UploadOptions, health: DestinationHealth, bookkeeper: Bookkeeper,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.spool = spool
        self.options = options
        self.health = health
        self.bookkeeper = bookkeeper
        self.now = now
        plan = PassPlan(order: options.order, parallel: options.parallel, isRecovering: health.isRecovering)
    }

    var stopReason: PassPlan.StopReason? { plan.stopReason }
    var destinationWaitsUntil: Timestamp? { health.waitsUntil(now: now()) }

    /// Begins a round over what is pending now.
    func begin(_ listing: SpoolListing) {
        firstID += self.listing.entries.count
        self.listing = listing
        queue = SendQueue(count: listing.entries.count)
        tally = Tally()
    }

    /// The next segment for a worker; `nil` when there is none left or nothing more is to be started.
    func next() async -> Job? {
        while true {
            if Task.isCancelled { stop(.interrupted) }
            switch plan.next() {
            case .stop: return nil
            case .wait: await waitForChange()
            case .sendNext: return start(takeNext { $0.next() })
            case .sendProbe: return start(takeNext { $0.probe(attempts: attempts) })
            }
        }
    }

    private func takeNext(_ take: (inout SendQueue) -> Int?) -> Int? {
        if let limit = options.limit, started >= limit { return nil }
        while let index = take(&queue) {
            if !failed.contains(listing.name(of: listing.entries[index])) { return index }
        }
        return nil
    }

    private func start(_ index: Int?) -> Job? {
        guard let index else { return nil }
        started += 1
        plan.start(firstID + index)
        return Job(
            id: firstID + index, name: listing.name(of: listing.entries[index]), hasSidecar: listing.entries[index].hasSidecar,
            mayBeUnfinished: listing.openJournals > 0, mayBeHalfSplit: listing.mayBeHalfSplit(at: index),
            scannedAt: listing.scannedAt)
    }

    private func attempts(_ index: Int) -> Int {
        guard listing.entries[index].hasSidecar else { return 0 }
        return ((try? spool.sidecar(of: listing.name(of: listing.entries[index]))) ?? nil)?.attempts ?? 0
    }

    /// A segment was not sent after all.
    func skip(_ job: Job, _ reason: SkipReason) {
        started -= 1
        plan.skip(job.id)
        switch reason {
        case .taken: tally.taken += 1
        case .settles(let until):
            tally.settlesAt = min(tally.settlesAt ?? until, until)
            if options.order == .strict { plan.stop(.headWaits) }
        case .waits: if options.order == .strict { plan.stop(.headWaits) }
        case .ended: tally.ended += 1
        }
        wake()
    }

    /// A segment's try ended: records what is certain now.
    func finish(_ job: Job, _ segment: PreparedSegment, _ verdict: Verdict) {
        held[job.id] = (segment, verdict)
        record(plan.finish(job.id, verdict))
        wake()
    }

    /// ``finish(_:_:_:)`` and ``next()`` in one call.
    func next(after job: Job, _ segment: PreparedSegment, _ verdict: Verdict) async -> Job? {
        finish(job, segment, verdict)
        return await next()
    }

    /// Ends a round: what no probe could clear stays unjudged.
    func endRound() { record(plan.exhausted()) }

    func stop(_ reason: PassPlan.StopReason) {
        plan.stop(reason)
        wake()
    }

    func fail(_ error: FileError) {
        failure = failure ?? error
        stop(.localFailure)
    }

    private func record(_ judgements: [PassPlan.Judgement]) {
        do throws(FileError) {
            if plan.isProvenWell, plan.stopReason == nil { try health.succeeded() }
            try noteStop()
            let until = health.state?.nextAttemptAt
            for judgement in judgements {
                guard let (segment, verdict) = held.removeValue(forKey: judgement.id) else { continue }
                switch judgement {
                case .delivered, .refused, .split: tally.ended += 1
                case .culprit, .unjudged, .victim, .untouched: failed.insert(segment.claim.name)
                }
                try bookkeeper.record(judgement, of: segment, verdict, destinationWaitsUntil: until)
            }
        } catch {
            fail(error)
        }
    }

    private var stopIsNoted = false

    private func noteStop() throws(FileError) {
        guard let reason = plan.stopReason, !stopIsNoted else { return }
        stopIsNoted = true
        try health.failed(reason, now: now())
    }

    private func waitForChange() async {
        await withCheckedContinuation { waiters.append($0) }
    }

    private func wake() {
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }
}

extension PassPlan.Judgement {
    /// Whom it is about.
    var id: PassPlan.ID {
        switch self {
        case .delivered(let id), .refused(let id), .split(let id), .culprit(let id), .unjudged(let id), .victim(let id),
            .untouched(let id):
            id
        }
    }
}
