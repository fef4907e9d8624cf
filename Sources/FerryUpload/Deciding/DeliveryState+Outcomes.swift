import FerrySpool

/// What becomes of segments when their requests end.
extension DeliveryState {
    /// Notes the outcome of a request, and has recorded what is certain now.
    ///
    /// - Parameter attempt: The number of its first segment's try.
    mutating func finish(
        _ job: DeliveryJob, _ outcome: RequestOutcome, attempt: Int, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        // What was skipped or put back is of the job no more: the outcome is the others'.
        underWay[job.id] = job
        var outcome = outcome
        if case .eachRequest = options.blame, let name = job.items.first?.name {
            outcome.tries = queues[job.queue].countTry(of: name)
        }
        outcomes[job.id] = outcome
        // One that stops saying so is believed, whichever server answers there now.
        if case .delivered = outcome.verdict { acceptedJoined = outcome.trace.acceptedJoined }
        if let time = outcome.duration {
            budget?.observe(outcome.load.bytes, events: outcome.load.events, took: time)
        }
        let wasStopping = plan.stopReason != nil
        let judgements = plan.finish(
            job.id, outcome.verdict, latency: outcome.trace.latency, tries: outcome.tries ?? attempt)
        noteStop(at: now, using: &generator)
        // The pass ends for another reason, or for a shorter wait: the destination is left alone all the same.
        if wasStopping, case .unavailable(let reason, let retryAfter?) = outcome.verdict {
            wasToldToWait = true
            if breaker.wasTold(reason, toWait: retryAfter, now: now.wall) { saveBreaker() }
        }
        record(judgements, at: now, using: &generator)
    }

    /// Notes that a request of a job was delivered, and goes on with the rest of the job.
    ///
    /// - Parameters:
    ///   - attempt: The number of its first segment's try.
    ///   - rest: What is left, the first of it perhaps delivered in part.
    /// - Returns: The job for the rest; `nil` when nothing more is to be started.
    mutating func goOn(
        _ job: DeliveryJob, _ outcome: RequestOutcome, attempt: Int, rest: [QueuedSegment], at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) -> DeliveryJob? {
        finish(job.with(job.items.dropLast(rest.count)), outcome, attempt: attempt, at: now, using: &generator)
        // What follows has tries of its own.
        if let next = rest.first { queues[job.queue].forgetTries(of: next.name) }
        let size = rest.reduce(ByteCount.zero) { $0 + ($1.entry.size ?? .zero) }
        let isLate = budget.map { !$0.allows(size, cutTo: options.cuts, now: now.steady) } ?? false
        if isLate { plan.stop(.timeLimit) }
        guard plan.stopReason == nil, !isEnding, isCurrent(job), mayGoOn(rest, in: job.queue) else {
            started -= rest.count
            for (index, item) in rest.enumerated() {
                queues[job.queue].putBack(item, hasSidecar: index == 0 || item.entry.hasSidecar)
            }
            return nil
        }
        nextID += 1
        plan.start(nextID)
        let next = DeliveryJob(id: nextID, queue: job.queue, spool: job.spool, items: rest)
        underWay[nextID] = next
        return next
    }

    /// Returns whether the rest of a job may go out now: it gives way to what is more urgent, as any request does.
    private mutating func mayGoOn(_ rest: [QueuedSegment], in queue: Int) -> Bool {
        guard queues[queue].isUsable, let priority = rest.first?.entry.priority else { return false }
        if priority > .critical, queues[queue].gate == .critical || isCriticalUnderWay { return false }
        return mostUrgent().map { $0.rank.priority >= priority } ?? true
    }

    mutating func record(
        _ judgements: [DeliveryPlan.Judgement], at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        // A pass that ends for a reason of its own still learns that the destination works.
        if plan.isProvenWell, plan.stopReason?.reason == nil, !wasToldToWait, breaker.provedWell() { saveBreaker() }
        noteStop(at: now, using: &generator)
        for judgement in judgements {
            guard var outcome = outcomes.removeValue(forKey: judgement.id), let job = underWay[judgement.id] else { continue }
            if case .off = plan.stopReason { outcome.isLast = true }
            recording.insert(job.id)
            add(
                .record(
                    JudgedRequest(
                        job: job, judgement: judgement, outcome: outcome,
                        destinationWaitsUntil: breaker.state?.nextAttemptAt)))
        }
    }

    private mutating func noteStop(at now: Moment, using generator: inout some RandomNumberGenerator) {
        guard let reason = plan.stopReason, !stopIsNoted else { return }
        stopIsNoted = true
        if breaker.failed(reason, now: now.wall, using: &generator) { saveBreaker() }
    }

    /// Notes that the outcome of a request is recorded.
    ///
    /// - Parameters:
    ///   - aftermaths: What is left of each of its segments.
    ///   - halves: Of those that were split.
    mutating func recorded(
        _ request: JudgedRequest, _ aftermaths: [Aftermath], halves: [FoundSegment] = [], at now: Timestamp
    ) {
        recording.remove(request.job.id)
        underWay[request.job.id] = nil
        for (item, aftermath) in zip(request.job.items, aftermaths) { place(item, of: request, aftermath, at: now) }
        // They go out before what follows the whole: on a full disk there is no room to split that as well.
        if isCurrent(request.job) { appeared(halves, in: request.job.queue) }
    }

    private mutating func place(
        _ item: QueuedSegment, of request: JudgedRequest, _ aftermath: Aftermath, at now: Timestamp
    ) {
        let queue = request.job.queue
        var (hasSidecar, next): (Bool, Timestamp?) = (item.entry.hasSidecar, nil)
        switch aftermath {
        case .failed(let error): return fail(error, request.job)
        case .waits(let until): (hasSidecar, next) = (true, until)
        case .asBefore(let has), .changed(let has): hasSidecar = has
        case .ended: break
        }
        // The spool has been away meanwhile: what is there now shows whether the segment ended.
        guard isCurrent(request.job) else { return queues[queue].putBack(item, hasSidecar: hasSidecar) }
        queues[queue].contend { $0.foundFree(item.name) }
        if case .changed = aftermath {
            let pause = isContinuous ? wait(until: now + ForeignFile.quietPeriod, at: now) : nil
            return queues[queue].setAside(item, hasSidecar: hasSidecar, pause)
        }
        if case .split = request.judgement, let until = request.outcome.postponedUntil {
            return queues[queue].setAside(item, hasSidecar: true, wait(until: until, at: now))
        }
        if case .ended = aftermath {
            queues[queue].forgetTries(of: item.name)
            queues[queue].summary.ended += 1
            return
        }
        // One try a pass is enough, however short its wait.
        guard isContinuous else { return queues[queue].setAside(item, hasSidecar: hasSidecar, nil) }
        switch request.judgement {
        // What was refused and has not ended could not be moved into rejected/.
        case .segmentAtFault, .undetermined, .refused:
            let until = next ?? now + Contention.longestPatience
            queues[queue].setAside(item, hasSidecar: hasSidecar, wait(until: until, at: now))
        case .untouched where request.outcome.verdict.isWithdrawn && plan.stopReason == nil:
            // Stopped, or the file changed while it was sent.
            queues[queue].setAside(item, hasSidecar: hasSidecar, wait(until: now + ForeignFile.quietPeriod, at: now))
        case .destinationAtFault, .untouched, .delivered, .split: queues[queue].putBack(item, hasSidecar: hasSidecar)
        }
    }
}

extension DeliveryPlan.Judgement {
    /// The request that it is about.
    var id: DeliveryPlan.ID {
        switch self {
        case .delivered(let id), .refused(let id), .split(let id), .segmentAtFault(let id), .undetermined(let id),
            .destinationAtFault(let id),
            .untouched(let id):
            id
        }
    }
}

extension Verdict {
    /// It was stopped, or its file changed.
    var isWithdrawn: Bool {
        if case .withdrawn = self { return true }
        return false
    }
}
