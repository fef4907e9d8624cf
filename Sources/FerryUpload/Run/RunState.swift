import FerrySpool

/// What a long-running uploader knows, and when it does what: no I/O, no clock.
struct RunState {
    /// One spool.
    struct Spool {
        var schedule: SendSchedule
        var control = SpoolControl()
        /// The request to flush that was obeyed last.
        var flushedAt: Timestamp?
        /// When that was, by the clock that is never set; `nil`: before this process came.
        var flushSeen: Duration?

        /// Returns whether what was stored at a time, and is published now, was asked for before: a tracker obeys within a second.
        func wasAskedFor(_ stored: Timestamp, at now: Moment) -> Bool {
            guard let flushedAt, stored <= flushedAt else { return false }
            let ago = flushSeen.map { now.steady - $0 } ?? now.wall - flushedAt
            return ago >= .zero && ago < flushPatience
        }
    }

    /// After a flush was asked for, what was stored before it leaves at once during this time.
    private static let flushPatience = Duration.seconds(30)
    private let options: RunOptions
    /// When segments are sent: the runner's, until the program changes its interval.
    private(set) var policy: SchedulePolicy
    /// Whether nothing is begun, because the program sends by itself.
    var isQuiet = false
    private(set) var spools: [Spool] = []
    private(set) var network = NetworkVerdict.usable(interface: nil)
    /// A misconfigured destination is tried again, in case a person mends it where it is.
    private var retriesAt: Duration?
    private var misconfigurations = 0

    init(_ options: RunOptions) {
        self.options = options
        policy = options.schedule
    }

    /// Sends what is stored, and then in another interval.
    mutating func setInterval(_ interval: Duration) {
        policy.interval = interval
        for spool in spools.indices {
            spools[spool].schedule = SendSchedule(policy)
            spools[spool].schedule.ask()
        }
    }

    /// Adds a spool.
    mutating func add(_ control: SpoolControl) {
        spools.append(Spool(schedule: SendSchedule(policy)))
        // What was asked for before has been done, or was for another process.
        spools[spools.count - 1].flushedAt = control.flushRequestedAt
        _ = setControl(control, of: spools.count - 1)
    }

    /// Takes a spool back under its number, or another one in its place.
    mutating func rejoin(_ control: SpoolControl, as spool: Int, isSame: Bool) {
        if !isSame {
            spools[spool] = Spool(schedule: SendSchedule(policy))
            spools[spool].flushedAt = control.flushRequestedAt
        }
        _ = setControl(control, of: spool)
    }

    /// Notes a segment that appeared, or whose writer has finished with it.
    mutating func appeared(_ found: FoundSegment, in spool: Int, _ delivery: inout DeliveryState, at now: Moment) {
        guard !delivery.namesUnderWay(queue: spool).contains(found.name), let newcomer = delivery.queues[spool].appeared(found)
        else { return }
        if newcomer.missedTurn {
            spools[spool].schedule.missedTurn()
            delivery.queues[spool].enqueue(newcomer)
        } else {
            place(newcomer, in: spool, &delivery, at: now)
        }
    }

    /// Takes what a scan found that is new since the last one.
    ///
    /// - Parameter before: What was queued then; `nil` at the first look: all that it finds leaves at once.
    /// - Returns: What is to be placed.
    func scanned(
        _ spool: Int, since before: SegmentQueue?, _ delivery: inout DeliveryState, at now: Moment
    ) -> [SpoolQueue.Newcomer] {
        guard let before, !policy.isManual || policy.criticalDelay != nil else { return [] }
        let longest = max(policy.interval, policy.criticalDelay ?? .zero)
        return delivery.queues[spool].takeNew(since: now.wall - longest, before: before)
    }

    /// Queues what has waited long enough.
    ///
    /// - Returns: What was just made when it was seen, and is to be placed.
    mutating func wake(_ delivery: inout DeliveryState, at now: Moment) -> [(spool: Int, newcomer: SpoolQueue.Newcomer)] {
        var new: [(spool: Int, newcomer: SpoolQueue.Newcomer)] = []
        for spool in spools.indices {
            let woken = delivery.queues[spool].wake(at: now.wall)
            if woken.missedTurn { spools[spool].schedule.missedTurn() }
            new += woken.new.map { (spool, $0) }
        }
        return new
    }

    /// Queues a segment that appeared, or lets it wait for its spool's time.
    mutating func place(
        _ newcomer: SpoolQueue.Newcomer, in spool: Int, _ delivery: inout DeliveryState, at now: Moment
    ) {
        let entry = newcomer.entry
        if spools[spool].wasAskedFor(entry.created, at: now) { spools[spool].schedule.ask() }
        let place = spools[spool].schedule.place(entry.priority, age: now.wall - entry.created, at: now.steady)
        switch place {
        case .queue: delivery.queues[spool].enqueue(newcomer)
        case .hold(let due, let isUrgent): delivery.queues[spool].hold(newcomer, until: due, isUrgent: isUrgent)
        }
    }

    /// Applies a changed `control.json`. Returns whether a flush was asked for.
    mutating func setControl(_ control: SpoolControl, of spool: Int, at now: Moment? = nil) -> Bool {
        // What was stored during a pause is sent at its end.
        if spools[spool].control.stopsSending, !control.stopsSending, !policy.isManual { spools[spool].schedule.ask() }
        spools[spool].control = control
        guard let asked = control.flushRequestedAt, asked != spools[spool].flushedAt else { return false }
        (spools[spool].flushedAt, spools[spool].flushSeen) = (asked, now?.steady)
        spools[spool].schedule.ask()
        return true
    }

    /// Notes that this process itself asked for a flush in a spool's folder: it does not obey its own request.
    mutating func askedItself(spool: Int, at now: Moment) {
        (spools[spool].flushedAt, spools[spool].flushSeen) = (now.wall, now.steady)
    }

    /// Releases everything at once, as it was asked for.
    mutating func ask(
        _ delivery: inout DeliveryState, at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        for spool in spools.indices { spools[spool].schedule.ask() }
        retriesAt = nil
        delivery.forgetWaits(at: now, using: &generator)
    }

    /// Notes that a file with secrets has changed: a destination that refused the old ones is tried at once.
    mutating func secretsChanged(
        _ delivery: inout DeliveryState, at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        guard case .misconfigured = delivery.plan.stopReason else { return }
        retriesAt = nil
        delivery.restart(at: now, using: &generator)
    }

    /// Notes a change of the network. Returns whether there is a new way to the destination.
    ///
    /// - Parameter isFirst: It was not known before: the waits that an earlier process has noted go on.
    mutating func setNetwork(
        _ verdict: NetworkVerdict, isFirst: Bool = false, _ delivery: inout DeliveryState, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard verdict != network else { return false }
        network = verdict
        guard case .usable = verdict, !isFirst else { return false }
        retriesAt = nil
        for spool in spools.indices where !policy.isManual { spools[spool].schedule.ask() }
        delivery.forgetWaits(at: now, using: &generator)
        return true
    }

    /// Returns why nothing at all is sent.
    func blocker(_ delivery: DeliveryState, at now: Moment) -> SendBlocker? {
        switch network {
        case .usable: break
        case .noRoute: return .noRoute
        case .denied(let interface): return .interfaceDenied(interface)
        }
        if let windows = options.windows, !windows.isOpen(at: now.wall) {
            return .windowClosed(until: windows.nextChange(after: now.wall))
        }
        if case .off(let reason) = delivery.plan.stopReason { return .off(reason.message) }
        if let until = delivery.breaker.waitsUntil(now: now.wall), delivery.plan.stopReason != nil || !delivery.isBusy {
            return .destinationWaits(until: until, delivery.breaker.state?.lastError.message ?? "it failed")
        }
        if let retriesAt, retriesAt > now.steady, delivery.plan.stopReason != nil {
            return .misconfigured(
                until: now.wall + (retriesAt - now.steady), delivery.breaker.state?.lastError.message ?? "it is misconfigured")
        }
        return nil
    }

    /// Returns the names of held segments, by queue, that are to be looked for before they make others leave: another process may have sent them.
    func toLookFor(_ delivery: DeliveryState, at now: Moment) -> [(queue: Int, names: [String])] {
        guard !isQuiet, blocker(delivery, at: now) == nil else { return [] }
        return spools.indices.compactMap { index in
            let held = delivery.queues[index].held
            guard delivery.queues[index].failure == nil, !spools[index].control.stopsSending,
                spools[index].schedule.wouldRelease(held, at: now.steady)
            else { return nil }
            return (index, Array(held.names))
        }
    }

    /// Brings the delivery in line with everything that is known.
    ///
    /// - Returns: When to look again, even if nothing happens until then.
    mutating func update(
        _ delivery: inout DeliveryState, at now: Moment, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        noteMisconfiguration(delivery, at: now, using: &generator)
        endAsking(delivery)
        let blocker = blocker(delivery, at: now)
        if blocker == nil {
            // A wait that is over is no wait for what fails next, however soon.
            if delivery.plan.stopReason != nil, !delivery.isBusy { retriesAt = nil }
            delivery.restart(at: now, using: &generator)
        }
        var next: [Duration] = []
        for index in spools.indices where delivery.queues[index].failure == nil {
            if let arrival = options.upload.due { delivery.queues[index].rules.apply(arrival, at: now.wall) }
            var isClosed = blocker != nil || isQuiet || spools[index].control.stopsSending
            if let hold = delivery.queues[index].hold {
                if !hold.isOver(at: now.wall) {
                    isClosed = true
                    next.append(now.steady + (hold.until - now.wall))
                } else if delivery.queues[index].waiting.isEmpty, delivery.isDrained(queue: index, gate: .open) {
                    // What it held has left in another way.
                    delivery.queues[index].hold = nil
                }
            }
            if !isClosed, let share = spools[index].schedule.release(delivery.queues[index].held, at: now.steady) {
                delivery.queues[index].release(share)
            }
            if !isClosed, spools[index].schedule.isAsked, delivery.isDrained(queue: index, gate: .open) {
                spools[index].schedule.drained()
            }
            delivery.queues[index].gate = isClosed ? .closed : spools[index].schedule.gate
            next += [delivery.queues[index].held.urgentDue, delivery.queues[index].held.ordinaryDue].compactMap { $0 }
            if let wake = delivery.queues[index].waiting.nextWake { next.append(now.steady + (wake - now.wall)) }
        }
        if let until = delivery.breaker.waitsUntil(now: now.wall) { next.append(now.steady + (until - now.wall)) }
        if let retriesAt, retriesAt > now.steady { next.append(retriesAt) }
        for change in [
            options.windows?.nextChange(after: now.wall), options.upload.due?.standing(at: now.wall).next,
        ] { if let change { next.append(now.steady + (change - now.wall)) } }
        return next.filter { $0 > now.steady }.min()
    }

    /// Ends a flush that was asked for by hand once the destination has failed: what is stored from then on was not asked for.
    private mutating func endAsking(_ delivery: DeliveryState) {
        guard policy.isManual, !delivery.isBusy, delivery.plan.stopReason?.reason != nil else { return }
        for spool in spools.indices { spools[spool].schedule.drained() }
    }

    private mutating func noteMisconfiguration(
        _ delivery: DeliveryState, at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        switch delivery.plan.stopReason {
        case .misconfigured where retriesAt == nil && !delivery.isBusy:
            misconfigurations += 1
            retriesAt =
                now.steady + options.upload.backOff.wait(afterFailures: misconfigurations, using: &generator)
        // Strict order: the head of the line has a back-off of its own, and the queue wakes it.
        case .headWaits, .timeLimit, .interrupted, .paused, .localFailure, .unavailable, .off, .misconfigured: break
        case nil:
            retriesAt = nil
            if delivery.plan.isProvenWell { misconfigurations = 0 }
        }
    }
}
