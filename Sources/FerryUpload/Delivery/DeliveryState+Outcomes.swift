import FerrySpool

/// What becomes of segments when their requests end.
extension DeliveryState {
    /// A request ended: records what is certain now.
    mutating func finish(_ job: Dispatcher.Job, _ segments: [PreparedSegment], _ outcome: Courier.Outcome) {
        held[job.id] = (segments, outcome)
        if let first = segments.first { budget?.observe(job.size, took: outcome.duration ?? first.preparedAgo) }
        var tries = 1
        if case .eachRequest = options.blame, let name = segments.first?.claim.name {
            tries = (triesHere[name] ?? 0) + 1
            triesHere[name] = tries
        }
        record(plan.finish(job.id, outcome.verdict, latency: outcome.latency, tries: tries))
    }

    mutating func record(_ judgements: [PassPlan.Judgement]) {
        if plan.isProvenWell, plan.stopReason == nil, health.reset() { keepHealth() }
        if let reason = plan.stopReason, !stopIsNoted {
            stopIsNoted = true
            var generator = SystemRandomNumberGenerator()
            if health.failed(reason, now: now(), using: &generator) { keepHealth() }
        }
        for judgement in judgements {
            guard let (segments, outcome) = held.removeValue(forKey: judgement.id),
                let job = underWay.removeValue(forKey: judgement.id)
            else { continue }
            for (segment, item) in zip(segments, job.items) { record(judgement, outcome, segment, item, lane: job.lane) }
        }
    }

    private mutating func record(
        _ judgement: PassPlan.Judgement, _ outcome: Courier.Outcome, _ segment: PreparedSegment, _ item: Dispatcher.Item,
        lane: Int
    ) {
        let verdict = outcome.verdict
        if judgement.isOfContent, !segment.claim.isUnchanged { return findChanged(segment, item, lane: lane) }
        let next: Timestamp?
        do throws(FileError) {
            next = try lanes[lane].tools.bookkeeper.record(
                judgement, of: segment, verdict, destinationWaitsUntil: health.state?.nextAttemptAt)
        } catch {
            return fail(error, lane: lane)
        }
        let hasSidecar = segment.sidecar != nil || next != nil
        lanes[lane].foundFree(item.name)
        switch judgement {
        case .split where outcome.postponedUntil != nil:
            lanes[lane].setAside(item, hasSidecar: true, until: isContinuous ? outcome.postponedUntil : nil)
        case .delivered, .refused, .split:
            triesHere[item.name] = nil
            lanes[lane].tally.ended += 1
        // One try a pass is enough, whatever its wait.
        case _ where !isContinuous: lanes[lane].setAside(item, hasSidecar: hasSidecar, until: nil)
        case .culprit, .unjudged: lanes[lane].setAside(item, hasSidecar: hasSidecar, until: next)
        case .victim: lanes[lane].putBack(item, hasSidecar: hasSidecar)
        case .untouched:
            // Stopped, or the file changed while it was sent.
            if case .withdrawn = verdict, plan.stopReason == nil {
                lanes[lane].setAside(item, hasSidecar: hasSidecar, until: now() + ForeignFile.quietPeriod)
            } else {
                lanes[lane].putBack(item, hasSidecar: hasSidecar)
            }
        }
    }

    /// A segment was written into while its request was under way: what the destination answered is about neither its old content nor the new.
    private mutating func findChanged(_ segment: PreparedSegment, _ item: Dispatcher.Item, lane: Int) {
        lanes[lane].tools.onEvent(.warning("\(item.name) was changed while it was sent; it stays pending"))
        lanes[lane].foundFree(item.name)
        let until = isContinuous ? now() + ForeignFile.quietPeriod : nil
        lanes[lane].setAside(item, hasSidecar: segment.sidecar != nil, until: until)
    }

    /// Writes what is known of the destination where the next process will look for it.
    mutating func keepHealth() {
        for lane in lanes.indices where lanes[lane].failure == nil {
            do throws(FileError) {
                try lanes[lane].tools.spool.setDestinationState(health.state, health.id)
            } catch {
                fail(error, lane: lane)
            }
        }
    }
}

extension PassPlan.Judgement {
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
