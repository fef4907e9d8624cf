import FerrySpool

/// Everything that a delivery knows while it runs: the spools' lanes, the plan, and what is under way.
struct DeliveryState {
    let options: UploadOptions
    let now: @Sendable () -> Timestamp
    var plan: PassPlan
    var health: DestinationHealth
    var lanes: [Lane]
    /// It goes on when nothing is left: more may come.
    let isContinuous: Bool
    private var isEnding = false
    private var lastLane = 0
    private var nextID = 0
    private var started = 0
    var stopIsNoted = false
    /// A request was told when to come back while the plan was ending already.
    var wasToldToWait = false
    /// The most bytes of joined segments that the destination said it takes when it took something last; `nil`: none.
    var acceptedJoined: ByteCount?
    /// The smallest request of joined segments that was too large.
    private var refusedJoined: ByteCount?
    var budget: DeadlineBudget?
    var underWay: [PassPlan.ID: Dispatcher.Job] = [:]
    /// Jobs that took more segments than they may need, and will put back what fills no request of theirs; and their lanes.
    private var gathering: [PassPlan.ID: Int] = [:]
    var held: [PassPlan.ID: (segments: [PreparedSegment], outcome: Courier.Outcome)] = [:]
    /// What is to be told when the state is free again: a callback may ask for it.
    var news: [News] = []
    /// The first folder that failed.
    var failure: FileError? { lanes.lazy.compactMap(\.failure).first }

    init(
        _ lanes: [Lane], options: UploadOptions, health: DestinationHealth, isContinuous: Bool,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.lanes = lanes
        self.options = options
        self.health = health
        self.isContinuous = isContinuous
        self.now = now
        plan = Self.plan(options, health)
        budget = options.deadline.map { DeadlineBudget(time: $0, margin: options.deadlineMargin) }
    }

    private static func plan(_ options: UploadOptions, _ health: DestinationHealth) -> PassPlan {
        PassPlan(
            order: options.order, parallel: options.parallel, isRecovering: health.isRecovering,
            failures: health.state?.failures ?? 0, sparesHead: health.sparesHead, blame: options.blame)
    }

    /// Something that happened, and who is to be told.
    struct News {
        let event: UploadEvent
        let onEvent: @Sendable (UploadEvent) -> Void
    }

    mutating func takeNews() -> [News] {
        if news.isEmpty { return [] }
        defer { news = [] }
        return news
    }

    enum Step {
        case job(Dispatcher.Job)
        /// Something must happen first.
        case wait
        /// Nothing is left, or nothing more is to be started.
        case done
    }

    mutating func next() -> Step {
        let isProbe: Bool
        switch plan.next() {
        case .stop: return idle
        case .wait: return .wait
        case .sendNext:
            if waitsForCritical() || waitsForGathering() { return .wait }
            isProbe = sparesNext()
        case .sendProbe: isProbe = true
        }
        if let limit = options.limit, started >= limit { return idle }
        guard let (lane, first) = isProbe ? takeProbe() : takeNext() else {
            // Nothing is left that could show who is to blame.
            if isContinuous { endRound() }
            return idle
        }
        if let budget, !budget.allows(first.entry.size ?? .zero, cutTo: options.cuts) {
            plan.stop(.deadline)
            return idle
        }
        lastLane = lane
        var items = [first]
        var room = isProbe && !isInterrupted(first, in: lane) ? nil : room(beside: first, in: lane)
        // What is repeated as it was cannot be smaller.
        if !first.entry.hasSidecar, let budget { room?.keep(to: budget.most(cutTo: options.cuts), beside: first) }
        items += neighbours(of: first, in: lane, &room)
        started += items.count
        nextID += 1
        plan.start(nextID, isProbe: isProbe)
        if items.count > 1, options.cuts != nil { gathering[nextID] = lane }
        let job = Dispatcher.Job(
            id: nextID, lane: lane, tools: lanes[lane].tools, items: items, isFull: room?.isFull ?? false)
        underWay[nextID] = job
        return .job(job)
    }

    private var idle: Step { isContinuous && !isEnding ? .wait : .done }

    /// Takes the next segment of the lane whose next one is the most urgent; among equals they take turns.
    private mutating func takeNext() -> (lane: Int, item: Dispatcher.Item)? {
        guard let best = mostUrgent() else { return nil }
        return lanes[best.lane].takeNext(sized: joinLimit != nil).map { (best.lane, $0) }
    }

    private mutating func mostUrgent() -> (lane: Int, rank: Lane.Rank)? {
        var best: (lane: Int, rank: Lane.Rank)?
        for lane in lanesInTurn where !isHeldUp(lane) {
            guard let rank = lanes[lane].nextRank() else { continue }
            if best.map({ rank < $0.rank }) ?? true { best = (lane, rank) }
        }
        return best
    }

    /// Whether something else goes before the next segment.
    private mutating func sparesNext() -> Bool {
        guard plan.failures > 0, let best = mostUrgent() else { return false }
        return plan.sparesNext(tried: lanes[best.lane].triesOfNext())
    }

    /// Whose request is over, but not judged, may wait for what comes next.
    private var isCriticalUnderWay: Bool {
        underWay.contains { id, job in held[id] == nil && job.items.contains { $0.entry.priority == .critical } }
    }

    /// Whether what would be next has to let critical segments arrive first, of whatever spool: beside them it could overtake them.
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
    mutating func gathered(_ job: Dispatcher.Job) { gathering[job.id] = nil }

    /// Takes a segment that was tried least in all lanes, of any lane but the one that was served last if there is one: what is wrong may be
    /// wrong with all of a spool.
    private mutating func takeProbe() -> (lane: Int, item: Dispatcher.Item)? {
        var generator = SystemRandomNumberGenerator()
        var best: (lane: Int, rank: (Int, Int), probe: SegmentQueue.Probe)?
        for lane in lanes.indices.shuffled(using: &generator) where !isHeldUp(lane) {
            guard lanes[lane].nextRank() != nil, let probe = lanes[lane].probe(using: &generator) else { continue }
            let rank = (probe.attempts, lane == lastLane ? 1 : 0)
            if best.map({ rank < $0.rank }) ?? true { best = (lane, rank, probe) }
        }
        guard let best else { return nil }
        let item = lanes[best.lane].take(best.probe)
        guard !item.goesAlone, isInterrupted(item, in: best.lane) else { return (best.lane, item) }
        // Alone it would be another request than it was: those go out together, from the first one on.
        lanes[best.lane].putBack(item, hasSidecar: true)
        let request = lanes[best.lane].sidecar(of: item.name)?.interruptedRequest
        let first = lanes[best.lane].kin(of: item.name, atMost: 1) { $0.interruptedRequest == request }
        let taken = lanes[best.lane].takeKin(first).first ?? lanes[best.lane].takeNext(sized: joinLimit != nil)
        return taken.map { (best.lane, $0) }
    }

    /// All lanes, beginning behind the one that was served last.
    private var lanesInTurn: some Sequence<Int> {
        let (count, last) = (lanes.count, lastLane)
        return lanes.indices.lazy.map { (last + 1 + $0) % count }
    }

    /// When a lane goes on that is held up by what failed; `nil` when none is.
    func headWaits(lane: Int) -> Timestamp? {
        guard options.order == .strict else { return nil }
        return lanes[lane].waiting.values.lazy.filter(\.hasSidecar).compactMap(\.wait?.until).min()
    }

    /// In strict order nothing passes what waits.
    private func isHeldUp(_ lane: Int) -> Bool { options.order == .strict && !lanes[lane].waiting.isEmpty }

    /// For what may go out with a segment.
    private func room(beside first: Dispatcher.Item, in lane: Int) -> Coalescing.Room? {
        // A URL is made for the first segment of a request.
        if options.destination.namesSegment || options.destination.namesDay { return nil }
        let takesTried = takesTried(beside: first, in: lane)
        if options.cuts != nil { return .init(gathering: first, takesTried: takesTried) }
        // What was interrupted is as large as it was, whatever is joined now.
        if isInterrupted(first, in: lane) { return .init(gathering: first, takesTried: true) }
        return joinLimit.flatMap { .init(limit: $0, first: first, takesTried: takesTried) }
    }

    /// The most bytes of a joined request; `nil`: none is joined.
    private var joinLimit: ByteCount? {
        options.joinsSegments ? options.coalesce.limit(accepted: acceptedJoined, refused: refusedJoined) : nil
    }

    /// Where what failed goes out one by one, what has had no outcome is still repeated as it was.
    private func takesTried(beside first: Dispatcher.Item, in lane: Int) -> Bool {
        options.repeatsWhole || isInterrupted(first, in: lane)
    }

    private func isInterrupted(_ first: Dispatcher.Item, in lane: Int) -> Bool {
        guard first.entry.hasSidecar, let sidecar = lanes[lane].sidecar(of: first.name) else { return false }
        return sidecar.interruptedRequest != nil && options.canRepeat(sidecar)
    }

    /// Takes what was in one request with a segment, however much is to be sent, and wherever it stands: something else may have come between.
    ///
    /// - Returns: `nil` when it was in none with others.
    private mutating func mates(of first: Dispatcher.Item, in lane: Int) -> [Dispatcher.Item]? {
        let options = options
        guard first.entry.hasSidecar, !first.goesAlone,
            let request = lanes[lane].sidecar(of: first.name).flatMap({ options.repeatedRequest(of: $0) }),
            let count = Coalescing.count(ofKey: request)
        else { return nil }
        let isMate = { options.repeatedRequest(of: $0) == request }
        var found = lanes[lane].kin(of: first.name, atMost: count - 1, where: isMate)
        if found.count < count - 1 {
            // What would leave later by the spool's schedule goes out with them.
            lanes[lane].releaseKin(of: first.name, where: isMate)
            found = lanes[lane].kin(of: first.name, atMost: count - 1, where: isMate)
        }
        return lanes[lane].takeKin(found)
    }

    /// What may go out with a segment: what was in one request with it, and the small ones that follow it, of its priority and stream.
    private mutating func neighbours(of first: Dispatcher.Item, in lane: Int, _ room: inout Coalescing.Room?) -> [Dispatcher.Item]
    {
        let mates = mates(of: first, in: lane)
        var items = mates ?? []
        if mates != nil {
            // What is new shows whether the last request is to be full. What belongs to other requests is not taken from them.
            guard options.cuts != nil else { return items }
            room?.leaveTried()
        }
        // Without room there is no look at what follows, which may cost a call of the kernel.
        guard room != nil, lanes[lane].alone == 0, !first.goesAlone else { return items }
        let most = min(options.limit.map { $0 - started } ?? .max, Coalescing.Room.mostSegments)
        while items.count + 1 < most {
            guard let next = lanes[lane].takeNext(where: { room?.take($0, $1) ?? false }) else { break }
            items.append(next)
        }
        return items
    }

    /// Whether segments that are missing in requests of a job may come back, and are worth a wait. A single pass leaves it to the next.
    ///
    /// - Parameters:
    ///   - names: Of the job's segments.
    ///   - requests: The keys of those requests.
    func mayGetBack(_ requests: Set<String>, beside names: [String], of job: Dispatcher.Job, isOneTaken: Bool) -> Bool {
        guard let first = names.first else { return false }
        let lane = lanes[job.lane]
        let isMissing = { options.repeatedRequest(of: $0).map { requests.contains($0) } ?? false }
        // In the queue, or in a job that was gathered before the request was interrupted, and gives back what is not new.
        let isHere = {
            !lane.kin(of: first, atMost: 1, where: isMissing).isEmpty
                || underWay.contains { id, other in
                    id != job.id && other.lane == job.lane
                        && other.items.contains { lane.sidecar(of: $0.name).map(isMissing) ?? false }
                }
                || lane.holdsKin(of: first, where: isMissing)
                || lane.waiting.values.contains { $0.request.map { requests.contains($0) } ?? false }
        }
        guard isOneTaken || lane.othersHave(besides: names) || isHere() else { return false }
        return !isContinuous || !lane.isHopeless(first)
    }

    /// A segment of a job was not sent after all.
    mutating func skip(_ item: Dispatcher.Item, of job: Dispatcher.Job, _ reason: Dispatcher.SkipReason) {
        started -= 1
        // It is this job's no more: what comes back under its name is news.
        takeAway([item], from: job)
        var until: Timestamp?
        var request: String?
        var missedTurn = true
        switch reason {
        case .taken, .torn:
            lanes[job.lane].tally.noteTaken(item.name)
            if case .torn(let key) = reason {
                // Counted in any case: what others never let go of is not waited for for ever.
                let patience = lanes[job.lane].patienceForOthers(of: item.name)
                // At one moment with those that it waits for.
                until = lanes[job.lane].reunion(of: key).map { max($0, now() + Lane.shortestPatience) } ?? now() + patience
                request = key
            } else {
                until = now() + lanes[job.lane].patience(with: item.name)
                if item.entry.hasSidecar {
                    request = lanes[job.lane].sidecar(of: item.name).flatMap { options.repeatedRequest(of: $0) }
                }
            }
            // Another process sends the head of the line: nothing may pass it.
            if options.order == .strict {
                lanes[job.lane].setAside(item, hasSidecar: item.entry.hasSidecar, wait(until: until), request: request)
            }
        case .settles(let moment, let key):
            request = key
            lanes[job.lane].tally.noteSettling(at: moment, now: now())
            until = moment
            guard options.order == .strict else { break }
            // In a moment it can be looked at again: until then the line stands still, and nothing has failed.
            if moment - now() <= ForeignFile.quietPeriod {
                lanes[job.lane].setAside(item, hasSidecar: item.entry.hasSidecar, wait(until: until))
            } else {
                plan.stop(.headWaits)
            }
        case .waits(let moment, let key):
            until = moment ?? now() + Lane.longestPatience
            missedTurn = false
            request = key
            if options.order == .strict { plan.stop(.headWaits) }
        case .unusable(let error):
            lanes[job.lane].tally.note(error)
            until = now() + Lane.longestPatience
            missedTurn = false
            if options.order == .strict { plan.stop(.headWaits) }
        case .ended:
            lanes[job.lane].tally.ended += 1
            lanes[job.lane].foundFree(item.name)
            lanes[job.lane].forgetTries(of: item.name)
            return
        }
        // A pass looks at everything again in its next round.
        if isContinuous {
            lanes[job.lane].setAside(
                item, hasSidecar: item.entry.hasSidecar, wait(until: until), missedTurn: missedTurn, request: request)
        }
    }

    /// A wait that begins now.
    func wait(until: Timestamp?) -> Wait? { until.map { Wait(since: now(), until: $0) } }

    /// Segments of a job are left for later: one before them must wait.
    ///
    /// - Parameter noted: How many of the first ones may have sidecars since they were taken.
    mutating func putBack(_ items: some Collection<Dispatcher.Item>, of job: Dispatcher.Job, noted: Int) {
        started -= items.count
        for (index, item) in items.enumerated() {
            lanes[job.lane].putBack(item, hasSidecar: index < noted || item.entry.hasSidecar)
        }
        takeAway(items, from: job)
    }

    /// A look at the whole folder leaves out what is under way.
    private mutating func takeAway(_ items: some Collection<Dispatcher.Item>, from job: Dispatcher.Job) {
        guard let known = underWay[job.id] else { return }
        let names = Set(items.lazy.map { FileName($0.name) })
        underWay[job.id] = Dispatcher.Job(
            id: known.id, lane: known.lane, tools: known.tools, items: known.items.filter { !names.contains($0.name) })
    }

    /// Whether a joined request is likely to arrive before the deadline. If it is not, it is the last that was to be started.
    mutating func mayStart(_ job: Dispatcher.Job) -> Bool {
        guard job.items.count > 1, options.cuts == nil, let budget, !budget.allows(job.size) else { return true }
        plan.stop(.deadline)
        return false
    }

    /// Nothing of a job was sent.
    mutating func abandon(_ job: Dispatcher.Job) {
        plan.skip(job.id)
        underWay[job.id] = nil
    }

    /// What was refused together is tried one by one: keeps the first of a job, and puts the others back.
    ///
    /// - Parameters:
    ///   - verdict: What the destination said of all of them.
    ///   - noted: How many of the first ones have a sidecar now.
    mutating func breakUp(_ job: Dispatcher.Job, _ items: [Dispatcher.Item], _ verdict: Verdict, noted: Int) -> Dispatcher.Job {
        if case .tooLarge = verdict { refusedJoined = min(refusedJoined ?? job.size, job.size) }
        let single = Dispatcher.Job(id: job.id, lane: job.lane, tools: job.tools, items: [items[0]])
        underWay[job.id] = single
        for (index, item) in items.enumerated().dropFirst() {
            lanes[job.lane].putBack(item, hasSidecar: index < noted || item.entry.hasSidecar)
        }
        lanes[job.lane].separated.formUnion(items.dropFirst().map { FileName($0.name) })
        started -= items.count - 1
        return single
    }

    /// A request of a job was delivered, and others are to follow it.
    ///
    /// - Parameters:
    ///   - ended: The segments that are delivered whole with it.
    ///   - rest: What is left, the first of it perhaps delivered in part.
    /// - Returns: The job for the rest; `nil` when nothing more is to be started.
    mutating func goOn(
        _ job: Dispatcher.Job, _ ended: [PreparedSegment], _ outcome: Courier.Outcome, rest: [Dispatcher.Item]
    ) -> Dispatcher.Job? {
        let done = Dispatcher.Job(id: job.id, lane: job.lane, tools: job.tools, items: job.items.dropLast(rest.count))
        finish(done, ended, outcome)
        // What follows has tries of its own.
        if let next = rest.first { lanes[job.lane].forgetTries(of: next.name) }
        let size = rest.reduce(ByteCount.zero) { $0 + ($1.entry.size ?? .zero) }
        let isLate = budget.map { !$0.allows(size, cutTo: options.cuts) } ?? false
        if isLate { plan.stop(.deadline) }
        guard plan.stopReason == nil, !isEnding, isCurrent(job), mayGoOn(rest, in: job.lane) else {
            started -= rest.count
            for (index, item) in rest.enumerated() {
                lanes[job.lane].putBack(item, hasSidecar: index == 0 || item.entry.hasSidecar)
            }
            return nil
        }
        nextID += 1
        plan.start(nextID)
        let next = Dispatcher.Job(id: nextID, lane: job.lane, tools: job.tools, items: rest)
        underWay[nextID] = next
        return next
    }

    /// Whether the rest of a job may go out now: it gives way to what is more urgent, as any request does.
    private mutating func mayGoOn(_ rest: [Dispatcher.Item], in lane: Int) -> Bool {
        guard lanes[lane].isUsable, let priority = rest.first?.entry.priority else { return false }
        if priority > .critical, lanes[lane].gate == .critical || isCriticalUnderWay { return false }
        return mostUrgent().map { $0.rank.priority >= priority } ?? true
    }

    /// Ends a round: what no probe could clear stays unjudged.
    mutating func endRound() { record(plan.exhausted()) }

    mutating func stop(_ reason: PassPlan.StopReason) { plan.stop(reason) }

    /// Lets the workers go when nothing is left for them.
    mutating func end() { isEnding = true }

    /// A job's folder failed.
    mutating func fail(_ error: FileError, _ job: Dispatcher.Job) { if isCurrent(job) { fail(error, lane: job.lane) } }

    /// Whether a job belongs to the spool that its lane is for now.
    func isCurrent(_ job: Dispatcher.Job) -> Bool { lanes[job.lane].tools.lease === job.tools.lease }

    mutating func fail(_ error: FileError, lane: Int) {
        lanes[lane].failure = lanes[lane].failure ?? error
        if !isContinuous { plan.stop(.localFailure) }
    }

    /// Begins anew after a stop, when the destination is due again.
    mutating func restart() {
        guard let reason = plan.stopReason, !plan.isBusy else { return }
        if case .off = reason { return }
        record(plan.exhausted())
        plan = Self.plan(options, health)
        stopIsNoted = false
        wasToldToWait = false
    }

    /// What an earlier process found out about the destination.
    mutating func remember(_ state: RetryState) {
        guard health.remember(state, now: now()), !plan.isBusy else { return }
        plan = Self.plan(options, health)
    }

    /// The network changed: nothing that was learnt on the old one counts.
    mutating func forgetWaits(at time: Timestamp) {
        if health.forget(at: time) { keepHealth() }
        for lane in lanes.indices {
            lanes[lane].forgetTries()
            lanes[lane].forgetsWaitsBefore = time
            lanes[lane].wake(at: time, all: true)
        }
        restart()
    }

    /// Whether a lane has nothing left that may leave.
    ///
    /// - Parameter gate: What its schedule lets through.
    mutating func isDrained(lane: Int, gate: LaneGate) -> Bool {
        guard gate != .closed, lanes[lane].failure == nil, !underWay.values.contains(where: { $0.lane == lane }) else {
            return false
        }
        lanes[lane].gate = gate
        return isHeldUp(lane) || lanes[lane].nextRank() == nil
    }

    /// Segments appeared that leave by the order of all.
    mutating func appeared(_ names: [String], in lane: Int) {
        let underWay = namesUnderWay(lane: lane)
        for name in names where !underWay.contains(FileName(name)) {
            if let newcomer = lanes[lane].appeared(name) { lanes[lane].enqueue(newcomer) }
        }
    }

    /// The segments of a lane that are just being sent.
    func namesUnderWay(lane: Int) -> Set<FileName> {
        Set(underWay.values.lazy.filter { $0.lane == lane }.flatMap { $0.items.map { FileName($0.name) } })
    }

    var jobsUnderWay: some Collection<Dispatcher.Job> { underWay.values }
}
