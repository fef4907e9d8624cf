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
    /// - Parameter views: The files of each queue.
    mutating func next<View: SpoolView>(
        seeing views: [View], at now: Moment, using generator: inout some RandomNumberGenerator
    ) -> Step {
        // Nothing passes what has failed and is not set aside yet.
        if options.order == .strict, !recording.isEmpty { return .wait }
        let isProbe: Bool
        prepareTurn(at: now.wall)
        switch plan.next() {
        case .stop: return idle
        case .wait: return .wait
        case .sendNext:
            if waitsForCritical() || waitsForGathering() { return .wait }
            isProbe = sparesNext(views)
        case .sendProbe: isProbe = true
        }
        if let limit = options.limit, started >= limit { return idle }
        guard let (queue, first) = isProbe ? takeProbe(views, using: &generator) : takeNext(views) else {
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
        lastQueue = queue
        noteTurn(of: first, in: queue)
        var items = [first]
        var room = isProbe && !isInterrupted(first, views[queue]) ? nil : self.room(beside: first, views[queue])
        // What is repeated as it was cannot be smaller.
        if !first.entry.hasSidecar, let budget {
            room?.keep(to: budget.most(cutTo: options.cuts, now: now.steady), beside: first)
        }
        items += neighbours(of: first, in: queue, views[queue], &room)
        started += items.count
        nextID += 1
        plan.start(nextID, isProbe: isProbe)
        if items.count > 1, options.cuts != nil { gathering[nextID] = queue }
        let job = DeliveryJob(
            id: nextID, queue: queue, spool: queues[queue].spool, items: items, isFull: room?.isFull ?? false)
        underWay[nextID] = job
        return .job(job)
    }

    private var idle: Step { isContinuous && !isEnding ? .wait : .done }

    /// Takes the next segment of the queue whose next one is the most urgent; among equals they take turns.
    private mutating func takeNext(_ views: [some SpoolView]) -> (queue: Int, item: QueuedSegment)? {
        guard let best = mostUrgent() else { return nil }
        return queues[best.queue].takeNext(sized: joinLimit != nil, seeing: views[best.queue]).map { (best.queue, $0) }
    }

    mutating func mostUrgent() -> (queue: Int, rank: SpoolQueue.Rank)? {
        var best: (queue: Int, rank: SpoolQueue.Rank)?
        for queue in queuesInTurn where !isHeldUp(queue) {
            guard let rank = queues[queue].nextRank() else { continue }
            if best.map({ rank < $0.rank }) ?? true { best = (queue, rank) }
        }
        return best
    }

    /// Returns whether something else goes before the next segment.
    private mutating func sparesNext(_ views: [some SpoolView]) -> Bool {
        guard plan.failures > 0, let best = mostUrgent() else { return false }
        return plan.sparesNext(tried: queues[best.queue].triesOfNext(seeing: views[best.queue]))
    }

    /// Whose request is over, but not judged, may wait for what comes next.
    var isCriticalUnderWay: Bool {
        underWay.contains { id, job in outcomes[id] == nil && job.items.contains { $0.entry.priority == .critical } }
    }

    /// Returns whether what would be next has to let critical segments arrive first, of any spool: beside them it could overtake them.
    private mutating func waitsForCritical() -> Bool {
        guard isCriticalUnderWay, let best = mostUrgent() else { return false }
        return best.rank.priority > .critical
    }

    /// Returns whether a job may put back some of what comes next, or all that is left: taken meanwhile, the rest would go out in requests that are
    /// not full.
    private mutating func waitsForGathering() -> Bool {
        guard !gathering.isEmpty else { return false }
        return mostUrgent().map { gathering.values.contains($0.queue) } ?? true
    }

    /// Notes that a job keeps what it has now.
    mutating func gathered(_ job: DeliveryJob) { gathering[job.id] = nil }

    /// Takes a segment that was tried least in all queues, of any queue but the one that was served last if there is one: what is wrong may be
    /// wrong with all of a spool.
    private mutating func takeProbe(
        _ views: [some SpoolView], using generator: inout some RandomNumberGenerator
    ) -> (queue: Int, item: QueuedSegment)? {
        var best: (queue: Int, rank: (Int, Int), probe: SegmentQueue.Probe)?
        for queue in queues.indices.shuffled(using: &generator) where !isHeldUp(queue) {
            guard queues[queue].nextRank() != nil, let probe = queues[queue].probe(seeing: views[queue], using: &generator) else {
                continue
            }
            let rank = (probe.attempts, queue == lastQueue ? 1 : 0)
            if best.map({ rank < $0.rank }) ?? true { best = (queue, rank, probe) }
        }
        guard let best else { return nil }
        let view = views[best.queue]
        let item = queues[best.queue].take(best.probe)
        guard !item.goesAlone, isInterrupted(item, view) else { return (best.queue, item) }
        // Alone it would be another request than it was: those go out together, from the first one on.
        queues[best.queue].putBack(item, hasSidecar: true)
        let request = view.sidecar(of: item.name)?.interruptedRequest
        let first = queues[best.queue].kin(of: item.name, atMost: 1, seeing: view) { $0.interruptedRequest == request }
        let taken =
            queues[best.queue].takeKin(first, seeing: view).first
            ?? queues[best.queue].takeNext(sized: joinLimit != nil, seeing: view)
        return taken.map { (best.queue, $0) }
    }

    /// The indices of all queues, beginning behind the one that was served last.
    private var queuesInTurn: some Sequence<Int> {
        let (count, last) = (queues.count, lastQueue)
        return queues.indices.lazy.map { (last + 1 + $0) % count }
    }
}
