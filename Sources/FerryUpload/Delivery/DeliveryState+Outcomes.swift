import FerrySpool

/// What becomes of segments when their requests end.
extension DeliveryState {
    /// A request ended: records what is certain now.
    mutating func finish(_ job: Dispatcher.Job, _ segments: [PreparedSegment], _ outcome: Courier.Outcome) {
        // What was skipped or put back is of the job no more: the outcome is the others'.
        underWay[job.id] = job
        var outcome = outcome
        if case .eachRequest = options.blame, let name = segments.first?.claim.name {
            outcome.tries = lanes[job.lane].countTry(of: name)
        }
        held[job.id] = (segments, outcome)
        // One that stops saying so is believed, whoever answers there now.
        if case .delivered = outcome.verdict { acceptedJoined = outcome.trace.acceptedJoined }
        if let time = outcome.duration ?? segments.first?.preparedAgo {
            budget?.observe(outcome.load.bytes, events: outcome.load.events, took: time)
        }
        let tries = outcome.tries ?? segments.first?.attempt ?? 1
        let wasStopping = plan.stopReason != nil
        let judgements = plan.finish(job.id, outcome.verdict, latency: outcome.trace.latency, tries: tries)
        noteStop()
        // The pass ends for another reason, or for a shorter wait: the destination is left alone all the same.
        if wasStopping, case .unwell(let reason, let retryAfter?) = outcome.verdict {
            wasToldToWait = true
            if health.wasTold(reason, toWait: retryAfter, now: now()) { keepHealth() }
        }
        record(judgements)
        // What is judged later is looked at then.
        held[job.id]?.outcome.changed = nil
    }

    mutating func record(_ judgements: [PassPlan.Judgement]) {
        // A pass that ends for a reason of its own still learns that the destination works.
        if plan.isProvenWell, plan.stopReason?.reason == nil, !wasToldToWait, health.provedWell() { keepHealth() }
        noteStop()
        for judgement in judgements {
            guard let (segments, outcome) = held.removeValue(forKey: judgement.id),
                let job = underWay.removeValue(forKey: judgement.id)
            else { continue }
            // A random number is a call of the kernel, and what has ended needs none.
            let end = judgement.mayBackOff ? (now(), Double.random(in: 0...1)) : nil
            for (index, (segment, item)) in zip(segments, job.items).enumerated() {
                var outcome = outcome
                outcome.end = end
                if case .off = plan.stopReason { outcome.isLast = true }
                outcome.trace.isDuplicate = outcome.trace.duplicates.contains(index)
                let isChanged = outcome.changed.map { $0.contains(index) } ?? !segment.claim.isUnchanged
                if judgement.isOfContent, isChanged {
                    findChanged(segment, item, of: job)
                } else {
                    record(judgement, outcome, segment, item, of: job)
                }
            }
        }
    }

    private mutating func noteStop() {
        guard let reason = plan.stopReason, !stopIsNoted else { return }
        stopIsNoted = true
        var generator = SystemRandomNumberGenerator()
        if health.failed(reason, now: now(), using: &generator) { keepHealth() }
    }

    private mutating func record(
        _ judgement: PassPlan.Judgement, _ outcome: Courier.Outcome, _ segment: PreparedSegment, _ item: Dispatcher.Item,
        of job: Dispatcher.Job
    ) {
        let aftermath: Bookkeeper.Aftermath
        do throws(FileError) {
            var events: [UploadEvent] = []
            let tools = job.tools
            aftermath = try tools.bookkeeper.record(
                judgement, of: segment, outcome, destinationWaitsUntil: health.state?.nextAttemptAt, &events)
            for event in events { news.append(News(event: event, onEvent: tools.onEvent)) }
        } catch {
            return fail(error, job)
        }
        let lane = job.lane
        var hasSidecar = segment.sidecar != nil
        var next: Timestamp?
        if case .waits(let until) = aftermath { (hasSidecar, next) = (true, until) }
        // The spool has been away meanwhile: what is there now shows whether the segment ended.
        guard isCurrent(job) else { return lanes[lane].putBack(item, hasSidecar: hasSidecar) }
        lanes[lane].foundFree(item.name)
        if case .split = judgement, let until = outcome.postponedUntil {
            return lanes[lane].setAside(item, hasSidecar: true, wait(until: until))
        }
        if case .ended = aftermath {
            lanes[lane].forgetTries(of: item.name)
            lanes[lane].tally.ended += 1
            if case .split = judgement { sendHalves(of: item, in: lane) }
            return
        }
        // One try a pass is enough, whatever its wait.
        guard isContinuous else { return lanes[lane].setAside(item, hasSidecar: hasSidecar, nil) }
        switch judgement {
        // What was refused and has not ended could not be moved into rejected/.
        case .culprit, .unjudged, .refused:
            lanes[lane].setAside(item, hasSidecar: hasSidecar, wait(until: next ?? now() + Lane.longestPatience))
        case .untouched where outcome.verdict.isWithdrawn && plan.stopReason == nil:
            // Stopped, or the file changed while it was sent.
            lanes[lane].setAside(item, hasSidecar: hasSidecar, wait(until: now() + ForeignFile.quietPeriod))
        case .victim, .untouched, .delivered, .split: lanes[lane].putBack(item, hasSidecar: hasSidecar)
        }
    }

    /// The halves go out before what follows the whole: on a full disk there is no room to split that as well.
    private mutating func sendHalves(of item: Dispatcher.Item, in lane: Int) {
        guard let halves = SegmentName(item.name)?.halves else { return }
        appeared([halves.first.fileName, halves.second.fileName], in: lane)
    }

    /// A segment was written into while its request was under way: what the destination answered is about neither its old content nor the new.
    private mutating func findChanged(_ segment: PreparedSegment, _ item: Dispatcher.Item, of job: Dispatcher.Job) {
        let warning = UploadEvent.warning("\(item.name) was changed while it was sent; it stays pending")
        news.append(News(event: warning, onEvent: job.tools.onEvent))
        let lane = job.lane
        guard isCurrent(job) else { return lanes[lane].putBack(item, hasSidecar: segment.sidecar != nil) }
        lanes[lane].foundFree(item.name)
        let pause = isContinuous ? wait(until: now() + ForeignFile.quietPeriod) : nil
        lanes[lane].setAside(item, hasSidecar: segment.sidecar != nil, pause)
    }

    /// Writes what is known of the destination where the next process will look for it.
    mutating func keepHealth() {
        for lane in lanes.indices { keepHealth(lane: lane) }
    }

    mutating func keepHealth(lane: Int) {
        guard lanes[lane].failure == nil else { return }
        do throws(FileError) {
            let spool = try lanes[lane].tools.lease.spool()
            if let other = (try? spool.destinationState(health.id)) ?? nil { health.yield(to: other) }
            try spool.setDestinationState(health.state, health.id)
        } catch {
            // On a full disk this process alone knows it, and what is delivered makes room.
            if !error.isDiskFull { fail(error, lane: lane) }
        }
    }
}

extension PassPlan.Judgement {
    /// Whether the segment may have to be tried again.
    fileprivate var mayBackOff: Bool { if case .delivered = self { false } else { true } }

    /// Whether it says something of the segment's content, and not of the destination alone.
    fileprivate var isOfContent: Bool {
        switch self {
        case .delivered, .refused, .split, .culprit: true
        case .unjudged, .victim, .untouched: false
        }
    }

    /// Whom it is about.
    var id: PassPlan.ID {
        switch self {
        case .delivered(let id), .refused(let id), .split(let id), .culprit(let id), .unjudged(let id), .victim(let id),
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
