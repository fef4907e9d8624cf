import FerrySpool

/// What goes out next.
extension DeliveryState {
    enum Step {
        case job(DeliveryJob)
        /// Something must happen first.
        case wait
        /// Nothing is left, or nothing more is to be started.
        case done
    }

    /// Returns the next request to make.
    ///
    /// - Parameter views: Of the lanes' files.
    mutating func next<View: SpoolView>(
        seeing views: [View], at now: Moment, using generator: inout some RandomNumberGenerator
    ) -> Step {
        // Nothing passes what has failed and is not set aside yet.
        if options.order == .strict, !recording.isEmpty { return .wait }
        let isProbe: Bool
        switch plan.next() {
        case .stop: return idle
        case .wait: return .wait
        case .sendNext:
            if waitsForCritical() || waitsForGathering() { return .wait }
            isProbe = sparesNext(views)
        case .sendProbe: isProbe = true
        }
        if let limit = options.limit, started >= limit { return idle }
        guard let (lane, first) = isProbe ? takeProbe(views, using: &generator) : takeNext(views) else {
            // What is just being written down may bring something back.
            guard recording.isEmpty else { return .wait }
            // Nothing is left that could show who is to blame.
            if isContinuous { endRound(at: now, using: &generator) }
            return idle
        }
        if let budget, !budget.allows(first.entry.size ?? .zero, cutTo: options.cuts, now: now.steady) {
            plan.stop(.timeLimit)
            return idle
        }
        lastLane = lane
        var items = [first]
        var room = isProbe && !isInterrupted(first, views[lane]) ? nil : self.room(beside: first, views[lane])
        // What is repeated as it was cannot be smaller.
        if !first.entry.hasSidecar, let budget {
            room?.keep(to: budget.most(cutTo: options.cuts, now: now.steady), beside: first)
        }
        items += neighbours(of: first, in: lane, views[lane], &room)
        started += items.count
        nextID += 1
        plan.start(nextID, isProbe: isProbe)
        if items.count > 1, options.cuts != nil { gathering[nextID] = lane }
        let job = DeliveryJob(
            id: nextID, lane: lane, spool: lanes[lane].spool, items: items, isFull: room?.isFull ?? false)
        underWay[nextID] = job
        return .job(job)
    }

    private var idle: Step { isContinuous && !isEnding ? .wait : .done }

    /// Takes the next segment of the lane whose next one is the most urgent; among equals they take turns.
    private mutating func takeNext(_ views: [some SpoolView]) -> (lane: Int, item: QueuedSegment)? {
        guard let best = mostUrgent() else { return nil }
        return lanes[best.lane].takeNext(sized: joinLimit != nil, seeing: views[best.lane]).map { (best.lane, $0) }
    }

    mutating func mostUrgent() -> (lane: Int, rank: SpoolQueue.Rank)? {
        var best: (lane: Int, rank: SpoolQueue.Rank)?
        for lane in lanesInTurn where !isHeldUp(lane) {
            guard let rank = lanes[lane].nextRank() else { continue }
            if best.map({ rank < $0.rank }) ?? true { best = (lane, rank) }
        }
        return best
    }

    /// Whether something else goes before the next segment.
    private mutating func sparesNext(_ views: [some SpoolView]) -> Bool {
        guard plan.failures > 0, let best = mostUrgent() else { return false }
        return plan.sparesNext(tried: lanes[best.lane].triesOfNext(seeing: views[best.lane]))
    }

    /// Whose request is over, but not judged, may wait for what comes next.
    var isCriticalUnderWay: Bool {
        underWay.contains { id, job in held[id] == nil && job.items.contains { $0.entry.priority == .critical } }
    }

    /// Whether what would be next has to let critical segments arrive first, of any spool: beside them it could overtake them.
    private mutating func waitsForCritical() -> Bool {
        guard isCriticalUnderWay, let best = mostUrgent() else { return false }
        return best.rank.priority > .critical
    }

    /// Whether a job may put back some of what comes next, or all that is left: taken meanwhile, the rest would go out in requests that are not
    /// full.
    private mutating func waitsForGathering() -> Bool {
        guard !gathering.isEmpty else { return false }
        return mostUrgent().map { gathering.values.contains($0.lane) } ?? true
    }

    /// A job keeps what it has now.
    mutating func gathered(_ job: DeliveryJob) { gathering[job.id] = nil }

    /// Takes a segment that was tried least in all lanes, of any lane but the one that was served last if there is one: what is wrong may be
    /// wrong with all of a spool.
    private mutating func takeProbe(
        _ views: [some SpoolView], using generator: inout some RandomNumberGenerator
    ) -> (lane: Int, item: QueuedSegment)? {
        var best: (lane: Int, rank: (Int, Int), probe: SegmentQueue.Probe)?
        for lane in lanes.indices.shuffled(using: &generator) where !isHeldUp(lane) {
            guard lanes[lane].nextRank() != nil, let probe = lanes[lane].probe(seeing: views[lane], using: &generator) else {
                continue
            }
            let rank = (probe.attempts, lane == lastLane ? 1 : 0)
            if best.map({ rank < $0.rank }) ?? true { best = (lane, rank, probe) }
        }
        guard let best else { return nil }
        let view = views[best.lane]
        let item = lanes[best.lane].take(best.probe)
        guard !item.goesAlone, isInterrupted(item, view) else { return (best.lane, item) }
        // Alone it would be another request than it was: those go out together, from the first one on.
        lanes[best.lane].putBack(item, hasSidecar: true)
        let request = view.sidecar(of: item.name)?.interruptedRequest
        let first = lanes[best.lane].kin(of: item.name, atMost: 1, seeing: view) { $0.interruptedRequest == request }
        let taken =
            lanes[best.lane].takeKin(first, seeing: view).first
            ?? lanes[best.lane].takeNext(sized: joinLimit != nil, seeing: view)
        return taken.map { (best.lane, $0) }
    }

    /// All lanes, beginning behind the one that was served last.
    private var lanesInTurn: some Sequence<Int> {
        let (count, last) = (lanes.count, lastLane)
        return lanes.indices.lazy.map { (last + 1 + $0) % count }
    }
}
