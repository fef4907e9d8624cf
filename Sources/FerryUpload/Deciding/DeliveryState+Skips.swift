import FerrySpool

/// What is not sent after all.
extension DeliveryState {
    /// Notes that a segment of a job was not sent after all.
    mutating func skip(_ item: QueuedSegment, of job: DeliveryJob, _ reason: SkipReason, at now: Timestamp) {
        started -= 1
        // It is this job's no more: what comes back under its name is new.
        takeAway([item], from: job)
        var until: Timestamp?
        var request: String?
        var missedTurn = true
        switch reason {
        case .taken, .torn:
            queues[job.queue].summary.noteTaken(item.name)
            switch reason {
            case .torn(let key):
                // Counted in any case: what other processes never let go of is not waited for for ever.
                let patience = queues[job.queue].contend { $0.patienceForOthers(of: item.name) }
                // At one moment with those that it waits for.
                let reunion = queues[job.queue].waiting.reunion(of: key)
                until = reunion.map { max($0, now + Contention.shortestPatience) } ?? now + patience
                request = key
            case .taken(let key):
                until = now + queues[job.queue].contend { $0.patience(with: item.name) }
                request = key
            case .waits, .unusable, .beingWritten, .ended: break
            }
            // Another process sends the head of the line: nothing may pass it.
            if options.order == .strict {
                queues[job.queue].setAside(item, hasSidecar: item.entry.hasSidecar, wait(until: until, at: now), request: request)
            }
        case .beingWritten(let moment, let key):
            request = key
            queues[job.queue].summary.noteBeingWritten(until: moment, now: now)
            until = moment
            guard options.order == .strict else { break }
            // In a moment it can be looked at again: until then the line stands still, and nothing has failed.
            if moment - now <= ForeignFile.quietPeriod {
                queues[job.queue].setAside(item, hasSidecar: item.entry.hasSidecar, wait(until: until, at: now))
            } else {
                plan.stop(.headWaits)
            }
        case .waits(let moment, let key):
            until = moment ?? now + Contention.longestPatience
            missedTurn = false
            request = key
            if options.order == .strict { plan.stop(.headWaits) }
        case .unusable(let error):
            queues[job.queue].summary.note(error)
            until = now + Contention.longestPatience
            missedTurn = false
            if options.order == .strict { plan.stop(.headWaits) }
        case .ended:
            queues[job.queue].summary.ended += 1
            queues[job.queue].contend { $0.foundFree(item.name) }
            queues[job.queue].forgetTries(of: item.name)
            return
        }
        // A pass looks at everything again in its next round.
        if isContinuous {
            queues[job.queue].setAside(
                item, hasSidecar: item.entry.hasSidecar, wait(until: until, at: now), missedTurn: missedTurn, request: request)
        }
    }

    /// Returns a wait that begins now.
    func wait(until: Timestamp?, at now: Timestamp) -> Wait? { until.map { Wait(since: now, until: $0) } }

    /// Puts segments of a job back: one before them must wait.
    ///
    /// - Parameter noted: How many of the first ones may have sidecars since they were taken.
    mutating func putBack(_ items: some Collection<QueuedSegment>, of job: DeliveryJob, noted: Int) {
        started -= items.count
        for (index, item) in items.enumerated() {
            queues[job.queue].putBack(item, hasSidecar: index < noted || item.entry.hasSidecar)
        }
        takeAway(items, from: job)
    }

    /// Takes segments out of a job, also where it is under way: a scan leaves out what is under way.
    private mutating func takeAway(_ items: some Collection<QueuedSegment>, from job: DeliveryJob) {
        guard let known = underWay[job.id] else { return }
        let names = Set(items.lazy.map { FileName($0.name) })
        underWay[job.id] = known.with(known.items.filter { !names.contains($0.name) })
    }

    /// Returns whether a joined request is likely to arrive before the deadline. If it is not, it is the last that was to be started.
    mutating func mayStart(_ job: DeliveryJob, at now: Duration) -> Bool {
        guard job.items.count > 1, options.cuts == nil, let budget, !budget.allows(job.size, now: now) else { return true }
        plan.stop(.timeLimit)
        return false
    }

    /// Ends a job of which nothing was sent.
    mutating func abandon(_ job: DeliveryJob) {
        plan.skip(job.id)
        underWay[job.id] = nil
    }

    /// Breaks up a request that was refused, to try its segments one by one: keeps the first of a job, and puts the others back.
    ///
    /// - Parameters:
    ///   - verdict: What the destination said of all of them.
    ///   - noted: How many of the first ones have a sidecar now.
    mutating func breakUp(_ job: DeliveryJob, _ items: [QueuedSegment], _ verdict: Verdict, noted: Int) -> DeliveryJob {
        if case .tooLarge = verdict { refusedJoined = min(refusedJoined ?? job.size, job.size) }
        let single = job.with([items[0]])
        underWay[job.id] = single
        for (index, item) in items.enumerated().dropFirst() {
            queues[job.queue].putBack(item, hasSidecar: index < noted || item.entry.hasSidecar)
        }
        queues[job.queue].separated.formUnion(items.dropFirst().map { FileName($0.name) })
        started -= items.count - 1
        return single
    }
}
