import FerrySpool

/// What becomes of segments when their requests end.
extension DeliveryState {
    /// A request ended: records what is certain now.
    mutating func finish(_ job: Dispatcher.Job, _ segments: [PreparedSegment], _ outcome: Courier.Outcome) {
        held[job.id] = (segments, outcome.verdict)
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
            guard let (segments, verdict) = held.removeValue(forKey: judgement.id),
                let job = underWay.removeValue(forKey: judgement.id)
            else { continue }
            for (segment, item) in zip(segments, job.items) { record(judgement, verdict, segment, item, lane: job.lane) }
        }
    }

    private mutating func record(
        _ judgement: PassPlan.Judgement, _ verdict: Verdict, _ segment: PreparedSegment, _ item: Dispatcher.Item, lane: Int
    ) {
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
    /// Whom it is about.
    var id: PassPlan.ID {
        switch self {
        case .delivered(let id), .refused(let id), .split(let id), .culprit(let id), .unjudged(let id), .victim(let id),
            .untouched(let id):
            id
        }
    }
}
