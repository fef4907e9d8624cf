import FerrySpool
import Synchronization

/// Hands segments to the workers, and their outcomes to the plan and the ledger.
///
/// ``DeliveryState`` decides, under a lock. What is to be done is done after it, by the caller: no file is written and no callback called under
/// the lock. A lock instead of an actor: a worker keeps its thread.
final class Dispatcher: Sendable {
    private struct Guarded {
        var delivery: DeliveryState
        /// What reads and writes the files of each queue's spool.
        var queues: [SpoolServices]
        /// By the spool's number; also of spools that are gone, as long as requests of theirs are under way.
        var spools: [SpoolNumber: SpoolServices] = [:]
        var nextSpool = 0
        /// Segments of requests that have ended, until that is written down.
        var prepared: [DeliveryPlan.ID: [PreparedSegment]] = [:]
        /// Counts the changes, so that no worker waits for one that has happened.
        var changes = 0
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Adds a spool as the next queue, or in the place of one whose spool is gone.
        mutating func join(_ services: SpoolServices, as queue: Int, gate: SendGate) {
            delivery.join(
                SpoolQueue(
                    spool: nextSpool, longestWait: delivery.options.backOff.longestWait, knowsArrivals: services.arrivals != nil,
                    gate: gate), as: queue)
            if queue < queues.count { queues[queue] = services } else { queues.append(services) }
            spools[nextSpool] = services
            nextSpool += 1
            let used = Set(delivery.queues.map(\.spool) + delivery.jobsUnderWay.map(\.spool))
            spools = spools.filter { used.contains($0.key) }
        }

        /// Returns what is to be done, with what it needs.
        mutating func takeEffects() -> [Effect] {
            delivery.takeEffects().compactMap { effect in
                switch effect {
                case .record(let request):
                    guard let services = spools[request.job.spool] else { return nil }
                    return .record(request, prepared.removeValue(forKey: request.job.id) ?? [], services)
                case .saveBreaker(let queue): return .saveBreaker(queue, delivery.queues[queue].spool, queues[queue])
                }
            }
        }
    }

    private enum Effect: Sendable {
        case record(JudgedRequest, [PreparedSegment], SpoolServices)
        case saveBreaker(Int, SpoolNumber, SpoolServices)
    }

    private let state: Mutex<Guarded>
    /// One process's files about the destination are written one after the other: the last one says what is known last.
    private let keeping = Mutex(())
    private let now: @Sendable () -> Timestamp
    private let start = ContinuousClock.now
    /// Called when nothing is under way any more, from any thread.
    private let onIdle: @Sendable () -> Void

    /// - Parameter spools: Those that take part from the beginning.
    init(
        _ delivery: sending DeliveryState, spools: [SpoolServices] = [], now: @escaping @Sendable () -> Timestamp,
        onIdle: @escaping @Sendable () -> Void = {}
    ) {
        var guarded = Guarded(delivery: delivery, queues: [])
        for (queue, services) in spools.enumerated() { guarded.join(services, as: queue, gate: .open) }
        state = Mutex(guarded)
        self.now = now
        self.onIdle = onIdle
    }

    private var moment: Moment { Moment(wall: now(), steady: ContinuousClock.now - start) }

    // MARK: Reading and changing

    /// Looks at the state, without changing it.
    func read<Value: Sendable>(_ body: (borrowing DeliveryState) -> Value) -> Value {
        state.withLock { body($0.delivery) }
    }

    /// Changes the state, lets waiting workers look again, and then does what is to be done.
    @discardableResult
    func change<Value: Sendable>(_ body: (inout DeliveryState) -> Value) -> Value { changeAll { body(&$0.delivery) } }

    private func changeAll<Value: Sendable>(_ body: (inout Guarded) -> Value) -> Value {
        let (value, waiters, isIdle, effects) = state.withLock { state in
            let wasBusy = state.delivery.isBusy
            let value = body(&state)
            state.changes += 1
            defer { state.waiters = [] }
            return (value, state.waiters, wasBusy && !state.delivery.isBusy, state.takeEffects())
        }
        for waiter in waiters { waiter.resume() }
        for effect in effects { carryOut(effect) }
        if isIdle { onIdle() }
        return value
    }

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .record(let request, let segments, let services):
            let (aftermaths, events) = services.recorder.record(request, segments)
            let halves = services.halves(of: request, aftermaths)
            let time = now()
            change { $0.recorded(request, aftermaths, halves: halves, at: time) }
            for event in events { services.onEvent(event) }
        case .saveBreaker(let queue, let spool, let services):
            guard let error = saveBreaker(in: services.lease), !error.isDiskFull else { return }
            // On a full disk this process alone knows it, and what is delivered makes room.
            change { if $0.queues[queue].spool == spool { $0.fail(error, queue: queue) } }
        }
    }

    /// Writes what is known of the destination where the next process looks for it.
    private func saveBreaker(in lease: SpoolLease) -> FileError? {
        keeping.withLock { _ in
            do throws(FileError) {
                let spool = try lease.spool()
                let id = read(\.breaker.id)
                let other = (try? spool.destinations.state(id)) ?? nil
                var known = state.withLock { state in
                    if let other { state.delivery.breaker.yield(to: other) }
                    return state.delivery.breaker.state
                }
                try spool.destinations.setState(known, id)
                return nil
            } catch {
                return error
            }
        }
    }

    // MARK: Spools

    /// Adds a spool as the next queue, or in the place of one whose spool is gone.
    ///
    /// - Parameter body: What is to be done in the same moment.
    func join(_ services: SpoolServices, as queue: Int, gate: SendGate, _ body: (inout DeliveryState) -> Void) {
        changeAll { state in
            state.join(services, as: queue, gate: gate)
            body(&state.delivery)
        }
    }

    /// What reads and writes the files of each queue's spool.
    var spools: [SpoolServices] { state.withLock { $0.queues } }

    /// What reads and writes files of spools that requests are under way of.
    var busySpools: [SpoolServices] {
        state.withLock { state in state.delivery.jobsUnderWay.compactMap { state.spools[$0.spool] } }
    }

    /// Returns what reads and writes the files of a queue's spool.
    func spool(ofQueue queue: Int) -> SpoolServices { state.withLock { $0.queues[queue] } }

    // MARK: Workers

    /// Returns the next job for a worker; `nil` when there is none left or nothing more is to be started.
    func next() async -> Assignment? {
        while true {
            if Task.isCancelled { stop(.interrupted) }
            let moment = moment
            let (step, services, changes, effects) = state.withLock { state in
                var generator = SystemRandomNumberGenerator()
                let step = state.delivery.next(seeing: state.queues, at: moment, using: &generator)
                let services: SpoolServices? = if case .job(let job) = step { state.queues[job.queue] } else { nil }
                return (step, services, state.changes, state.takeEffects())
            }
            for effect in effects { carryOut(effect) }
            switch (step, services) {
            case (.job(let job), let services?): return Assignment(job: job, services: services)
            case (.job, nil), (.done, _): return nil
            case (.wait, _): await waitForChange(since: changes)
            }
        }
    }

    func skip(_ item: QueuedSegment, of job: Assignment, _ reason: SkipReason) {
        let time = now()
        change { $0.skip(item, of: job.job, reason, at: time) }
    }

    /// Puts segments of a job back.
    ///
    /// - Parameter noted: How many of the first ones may have sidecars since they were taken.
    func putBack(_ items: some Collection<QueuedSegment> & Sendable, of job: Assignment, noted: Int = 0) {
        change { $0.putBack(items, of: job.job, noted: noted) }
    }

    /// Sends what comes next one by one: the link is bad.
    func sendAlone(_ job: Assignment) {
        change { $0.queues[job.job.queue].alone = max($0.queues[job.job.queue].alone, JoiningRoom.mostSegments) }
    }

    func gathered(_ job: Assignment) { change { $0.gathered(job.job) } }

    func mayStart(_ job: Assignment) -> Bool {
        let time = moment.steady
        return change { $0.mayStart(job.job, at: time) }
    }

    func mayGetBack(_ requests: Set<String>, beside names: [String], of job: Assignment, isOneTaken: Bool) -> Bool {
        read { $0.mayGetBack(requests, beside: names, of: job.job, isOneTaken: isOneTaken, seeing: job.services) }
    }

    func abandon(_ job: Assignment) { change { $0.abandon(job.job) } }

    func breakUp(_ job: Assignment, _ items: [QueuedSegment], _ verdict: Verdict, noted: Int) -> Assignment {
        Assignment(job: change { $0.breakUp(job.job, items, verdict, noted: noted) }, services: job.services)
    }

    /// Notes that a request of a job was delivered, and goes on with the rest of the job.
    ///
    /// - Parameters:
    ///   - ended: The segments that are delivered whole with it.
    ///   - rest: What is left, the first of it perhaps delivered in part.
    /// - Returns: The job for the rest; `nil` when nothing more is to be started.
    func goOn(
        _ job: Assignment, _ ended: [PreparedSegment], _ outcome: RequestOutcome, rest: [QueuedSegment]
    ) -> Assignment? {
        let moment = moment
        let next = changeAll { state in
            var generator = SystemRandomNumberGenerator()
            state.prepared[job.job.id] = ended
            return state.delivery.goOn(
                job.job, outcome.timed(by: ended), attempt: ended.first?.attempt ?? 1, rest: rest, at: moment,
                using: &generator)
        }
        return next.map { Assignment(job: $0, services: job.services) }
    }

    func finish(_ job: Assignment, _ segments: [PreparedSegment], _ outcome: RequestOutcome) {
        let moment = moment
        changeAll { state in
            var generator = SystemRandomNumberGenerator()
            state.prepared[job.job.id] = segments
            state.delivery.finish(
                job.job, outcome.timed(by: segments), attempt: segments.first?.attempt ?? 1, at: moment, using: &generator)
        }
    }

    /// Notes whether the lanes of a job's spool can be used.
    func noteLanes(_ outcome: RequestOutcome, of job: Assignment) {
        var isDelivered = false
        if case .delivered = outcome.verdict { isDelivered = true }
        let (trouble, now) = (outcome.trace.laneTrouble, moment.wall)
        guard trouble != nil || isDelivered && read({ $0.queues[job.job.queue].hold != nil }) else { return }
        change { $0.noteLanes(trouble, job.job, at: now) }
    }

    /// Ends a round: what no probe could clear stays undetermined.
    func endRound() { changeWithChance { $0.endRound(at: $1, using: &$2) } }

    /// Changes the state by what takes the time and chance.
    @discardableResult
    func changeWithChance<Value: Sendable>(
        _ body: (inout DeliveryState, Moment, inout SystemRandomNumberGenerator) -> Value
    ) -> Value {
        let moment = moment
        return change { delivery in
            var generator = SystemRandomNumberGenerator()
            return body(&delivery, moment, &generator)
        }
    }

    func stop(_ reason: StopReason) { change { $0.stop(reason) } }

    func fail(_ error: FileError, _ job: Assignment) { change { $0.fail(error, job.job) } }

    func fail(_ error: FileError, queue: Int) { change { $0.fail(error, queue: queue) } }

    private func waitForChange(since changes: Int) async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.changes == changes else { return false }
                state.waiters.append(continuation)
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }
}

/// A job, and what reads and writes its spool's files.
struct Assignment: Sendable {
    let job: DeliveryJob
    let services: SpoolServices

    var items: [QueuedSegment] { job.items }

    /// Returns the same job with other segments.
    func with(_ items: [QueuedSegment]) -> Assignment { Assignment(job: job.with(items), services: services) }
}

extension RequestOutcome {
    /// Returns it with how long it took, as far as that is known.
    fileprivate func timed(by segments: [PreparedSegment]) -> RequestOutcome {
        var outcome = self
        outcome.duration = duration ?? segments.first?.preparedAgo
        return outcome
    }
}
