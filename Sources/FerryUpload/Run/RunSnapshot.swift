public import FerrySpool

/// How a long-running uploader stands at one moment.
public struct RunSnapshot: Sendable {
    /// How much is pending.
    public struct Pending: Equatable, Sendable {
        /// The number of segments.
        public var segments: Int64 = 0
        /// The compressed size of these.
        public var bytes = ByteCount.zero
        /// When the oldest of them was created; `nil` when there is none.
        public var oldest: Timestamp?
        /// Those that missed their deadline.
        public var late: Int64 = 0

        /// Creates the amount of nothing.
        package init() {}
    }

    /// One spool of the uploader.
    public struct Spool: Sendable {
        /// The path of its folder.
        public let path: String
        /// Whether the folder is there and can be used. What is pending in one that is not, nothing can tell.
        public let isAvailable: Bool
        /// What is pending in it, by priority; empty while it is not available.
        public let pending: [Priority: Pending]
        /// Why nothing is sent from it; `nil` while it may.
        public let blocker: SendBlocker?

        /// Describes a spool.
        package init(path: String, isAvailable: Bool, pending: [Priority: Pending], blocker: SendBlocker?) {
            self.path = path
            self.isAvailable = isAvailable
            self.pending = pending
            self.blocker = blocker
        }

        /// What is pending in it, of all priorities.
        public var total: Pending {
            pending.values.reduce(into: Pending()) { total, part in
                total.segments += part.segments
                total.bytes += part.bytes
                total.late += part.late
                total.oldest = [total.oldest, part.oldest].compactMap { $0 }.min()
            }
        }
    }

    /// All spools that the uploader looks after.
    public let spools: [Spool]
    /// Whether requests go to the destination.
    public let breaker: BreakerState
    /// The number of requests that have no outcome yet.
    public let requestsUnderWay: Int
    /// What the uploader has done since it began.
    public let counters: RunCounters.Totals

    /// Describes an uploader.
    package init(spools: [Spool], breaker: BreakerState, requestsUnderWay: Int, counters: RunCounters.Totals) {
        self.spools = spools
        self.breaker = breaker
        self.requestsUnderWay = requestsUnderWay
        self.counters = counters
    }
}

extension DeliveryState {
    /// Returns what is pending in a queue, by priority: queued, waiting, held or under way.
    func pending(queue: Int) -> [Priority: RunSnapshot.Pending] {
        var pending: [Priority: RunSnapshot.Pending] = [:]
        let rules = queues[queue].rules
        func add(_ entry: SpoolListing.Entry) {
            var part = pending[entry.priority] ?? .init()
            part.segments += 1
            part.bytes += entry.size ?? .zero
            part.oldest = min(part.oldest ?? entry.created, entry.created)
            if rules.isLate(entry.created) { part.late += 1 }
            pending[entry.priority] = part
        }
        for entry in queues[queue].queue.remaining { add(entry) }
        for wait in queues[queue].waiting.values { add(wait.entry) }
        for entry in queues[queue].held.entries { add(entry) }
        for job in jobsUnderWay where job.queue == queue { for item in job.items { add(item.entry) } }
        return pending
    }

    /// Returns how many queued segments missed their deadline and are held for it.
    func heldLate(queue: Int) -> Int {
        let rules = queues[queue].rules
        guard !rules.sendsLate else { return 0 }
        return queues[queue].queue.remaining.count { rules.isLate($0.created) }
    }

    func breakerState(now: Timestamp) -> BreakerState {
        if case .off = plan.stopReason { return .open }
        guard breaker.isRecovering else { return .closed }
        return breaker.waitsUntil(now: now) == nil && plan.stopReason == nil ? .halfOpen : .open
    }
}
