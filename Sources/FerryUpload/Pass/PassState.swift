import FerrySpool

/// Everything that an upload pass knows while it runs: the listing, the plan, and what is under way.
struct PassState {
    private let spool: Spool
    private let options: UploadOptions
    private let bookkeeper: Bookkeeper
    private let now: @Sendable () -> Timestamp
    private(set) var plan: PassPlan
    private(set) var health: DestinationHealth
    private var listing = SpoolListing()
    private var queue = SendQueue(count: 0)
    /// Numbers go on from round to round.
    private var firstID = 0
    private var held: [PassPlan.ID: (segment: PreparedSegment, verdict: Verdict)] = [:]
    /// Failed in this pass: one try a pass is enough, whatever its wait.
    private var failed: Set<String> = []
    private var started = 0
    private var stopIsNoted = false
    private(set) var tally = Tally()
    /// What is left of the last listing, when nothing that was under way has ended since.
    var remaining: Int { max(0, listing.entries.count - tally.taken) }
    private(set) var failure: FileError?

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

    /// Begins a round over what is pending now.
    mutating func begin(_ listing: SpoolListing) {
        firstID += self.listing.entries.count
        self.listing = listing
        queue = SendQueue(count: listing.entries.count)
        tally = Tally()
    }

    enum Step {
        case job(Dispatcher.Job)
        /// Something that is under way must end first.
        case wait
        /// Nothing is left, or nothing more is to be started.
        case done
    }

    mutating func next() -> Step {
        let index: Int?
        switch plan.next() {
        case .stop: return .done
        case .wait: return .wait
        case .sendNext: index = takeNext { $0.next() }
        case .sendProbe:
            let attempts = attempts
            index = takeNext { $0.probe(attempts: attempts) }
        }
        guard let index else { return .done }
        started += 1
        plan.start(firstID + index)
        return .job(
            Dispatcher.Job(
                id: firstID + index, name: listing.name(of: listing.entries[index]),
                isForeign: listing.entries[index].isForeign, hasSidecar: listing.entries[index].hasSidecar,
                mayBeUnfinished: listing.openJournals > 0,
                mayBeHalfSplit: listing.mayBeHalfSplit(at: index), scannedAt: listing.scannedAt))
    }

    private mutating func takeNext(_ take: (inout SendQueue) -> Int?) -> Int? {
        if let limit = options.limit, started >= limit { return nil }
        while let index = take(&queue) {
            if failed.isEmpty || !failed.contains(listing.name(of: listing.entries[index])) { return index }
        }
        return nil
    }

    /// How often a segment was tried before.
    private var attempts: (Int) -> Int {
        { [spool, listing] index in
            guard listing.entries[index].hasSidecar else { return 0 }
            return ((try? spool.sidecar(of: listing.name(of: listing.entries[index]))) ?? nil)?.attempts ?? 0
        }
    }

    /// A segment was not sent after all.
    mutating func skip(_ job: Dispatcher.Job, _ reason: Dispatcher.SkipReason) {
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
    }

    /// A segment's try ended: records what is certain now.
    mutating func finish(_ job: Dispatcher.Job, _ segment: PreparedSegment, _ verdict: Verdict) {
        held[job.id] = (segment, verdict)
        record(plan.finish(job.id, verdict))
    }

    /// Ends a round: what no probe could clear stays unjudged.
    mutating func endRound() { record(plan.exhausted()) }

    mutating func stop(_ reason: PassPlan.StopReason) { plan.stop(reason) }

    mutating func fail(_ error: FileError) {
        failure = failure ?? error
        plan.stop(.localFailure)
    }

    private mutating func record(_ judgements: [PassPlan.Judgement]) {
        do throws(FileError) {
            if plan.isProvenWell, plan.stopReason == nil { try health.succeeded() }
            if let reason = plan.stopReason, !stopIsNoted {
                stopIsNoted = true
                try health.failed(reason, now: now())
            }
            for judgement in judgements {
                guard let (segment, verdict) = held.removeValue(forKey: judgement.id) else { continue }
                switch judgement {
                case .delivered, .refused, .split: tally.ended += 1
                case .culprit, .unjudged, .victim, .untouched: failed.insert(segment.claim.name)
                }
                try bookkeeper.record(judgement, of: segment, verdict, destinationWaitsUntil: health.state?.nextAttemptAt)
            }
        } catch {
            fail(error)
        }
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
