import FerrySpool

/// One spool's part in a delivery: what is queued, what waits, and what may leave. A value: what it asks of files is answered by a
/// ``SpoolView``.
struct SpoolQueue {
    let spool: SpoolNumber
    private(set) var queue = SegmentQueue()
    /// Segments that are not due.
    private(set) var waiting: WaitingSegments
    /// Segments that wait for the spool's schedule.
    private(set) var held = HeldSegments()
    /// What is known of segments that other processes have claimed.
    private(set) var contention = Contention()
    /// How often requests were tried by this process, where that is counted.
    private(set) var tries: [FileName: Int] = [:]
    /// Sidecars written before this moment count for nothing: the network has changed since.
    var forgetsWaitsBefore: Timestamp?
    var gate = SendGate.open
    /// Nothing leaves for a while.
    var hold: SpoolHold?
    var rules = SegmentQueue.Rules.everything
    var summary = RoundSummary()
    /// Why the spool cannot be used.
    var failure: FileError?
    /// How many of the next segments go out one by one, because the link is bad.
    var alone = 0
    /// Those that go out by themselves, because together they were refused.
    var separated: Set<FileName> = []
    /// How many segments the last listing had, without those that were not to be counted.
    private(set) var listed = 0
    /// Segments were added after the scan: nothing can be concluded from what it did not see.
    private var isAddedTo = false
    private let longestWait: Duration
    private let knowsArrivals: Bool

    /// - Parameters:
    ///   - longestWait: No wait that was meant is longer.
    ///   - knowsArrivals: Whether what comes after a listing is known.
    init(spool: SpoolNumber = 0, longestWait: Duration, knowsArrivals: Bool = false, gate: SendGate = .open) {
        self.spool = spool
        self.gate = gate
        self.longestWait = longestWait
        self.knowsArrivals = knowsArrivals
        waiting = WaitingSegments(longestWait: longestWait)
    }

    /// Lets nothing more leave, and forgets everything, until the queue is another spool's.
    mutating func vacate(_ reason: FileError) {
        self = SpoolQueue(spool: spool, longestWait: longestWait, knowsArrivals: knowsArrivals, gate: .closed)
        failure = reason
    }

    /// Lets nothing leave for a while.
    mutating func hold(_ why: String, at now: Timestamp) {
        if hold == nil { hold = SpoolHold(why, at: now) } else { hold?.failed(why, at: now) }
        gate = .closed
    }

    var isUsable: Bool { failure == nil && gate != .closed }

    /// Begins over what is pending now. What waits goes on waiting.
    ///
    /// - Parameter excluded: The names of segments that are just being sent, or travel by hand.
    mutating func begin(_ listing: SpoolListing, except excluded: Set<FileName> = []) {
        queue = SegmentQueue(listing)
        listed = listing.entries.count
        isAddedTo = false
        summary = RoundSummary()
        separated.formIntersection(
            separated.isEmpty ? [] : listing.entries.indices.map { FileName(listing.name(of: listing.entries[$0])) })
        guard !waiting.isEmpty || !held.isEmpty || !excluded.isEmpty || !contention.isEmpty || !tries.isEmpty else { return }
        var found = WaitingSegments(longestWait: longestWait)
        var stillHeld = HeldSegments()
        var stillContended = Contention()
        var stillTried: [FileName: Int] = [:]
        for index in listing.entries.indices {
            let name = FileName(listing.name(of: listing.entries[index]))
            found.take(name, from: waiting)
            stillHeld.take(name, from: held)
            stillContended.take(name, from: contention)
            stillTried[name] = tries[name]
            if excluded.contains(name) { listed -= 1 }
            if waiting[name] != nil || held.contains(name) || excluded.contains(name) { queue.take(index) }
        }
        // What is gone from the folder is forgotten.
        (waiting, held, contention, tries) = (found, stillHeld, stillContended, stillTried)
    }

    /// Takes out of the queue what was created after a moment and was not there before, as an earlier queue knew it.
    mutating func takeNew(since moment: Timestamp, before: SegmentQueue) -> [Newcomer] {
        queue.takeNew(since: moment, before: before).map { found, hasSidecar in
            Newcomer(found: found, hasSidecar: hasSidecar, missedTurn: false)
        }
    }
}

/// What comes in.
extension SpoolQueue {
    /// A segment that is to be queued, or held.
    struct Newcomer: Sendable {
        var found: FoundSegment
        let hasSidecar: Bool
        /// Its turn had come before.
        let missedTurn: Bool

        var name: String { found.name }
        var entry: SpoolListing.Entry { found.entry }
    }

    /// What has waited long enough.
    struct Woken {
        /// What was just made, and whose writer was waited for: it is not in the queue.
        var new: [Newcomer] = []
        /// A segment is in the queue again whose turn had come before.
        var missedTurn = false
    }

    /// Returns a segment that appeared, or whose writer has finished with it, as what is to be queued or held; `nil` when it is known already.
    mutating func appeared(_ found: FoundSegment) -> Newcomer? {
        var missedTurn = false
        var hasSidecar = false
        let name = FileName(found.name)
        if let wait = waiting[name] {
            // A back-off of its own goes on; what waited for its writer or for another process is looked at again.
            guard wait.isFresh || wait.missedTurn else { return nil }
            (missedTurn, hasSidecar) = (wait.missedTurn, wait.hasSidecar)
            _ = waiting.remove(name)
        }
        guard !queue.contains(found.name), !held.contains(name) else { return nil }
        return Newcomer(found: found, hasSidecar: hasSidecar, missedTurn: missedTurn)
    }

    /// Notes a file that was made, and may be still being written.
    mutating func created(_ found: FoundSegment, at now: Timestamp) {
        let name = FileName(found.name)
        guard waiting[name] == nil, !queue.contains(found.name), !held.contains(name) else { return }
        let wait = Wait(since: now, until: now + ForeignFile.quietPeriod)
        waiting.add(name, .init(entry: found.entry, hasSidecar: false, wait: wait, isFresh: true))
    }

    /// Queues a segment.
    mutating func enqueue(_ newcomer: Newcomer) { insert(newcomer.name, newcomer.entry, hasSidecar: newcomer.hasSidecar) }

    /// Lets a segment wait until it is released.
    mutating func hold(_ newcomer: Newcomer, until due: Duration, isUrgent: Bool) {
        held.add(newcomer, events: newcomer.found.events, until: due, isUrgent: isUrgent)
    }

    /// Forgets what was held and other processes have sent.
    mutating func forgetHeld(_ gone: Set<FileName>) { held.keep { !gone.contains(FileName($0)) } }

    /// Queues what was held.
    mutating func release(_ what: HeldSegments.Share) { for newcomer in held.release(what) { enqueue(newcomer) } }

    /// Returns whether a held segment of the same priority and stream has a sidecar that meets a condition.
    func holdsKin(of name: String, seeing view: some SpoolView, where isWanted: (RetryState) -> Bool) -> Bool {
        guard !held.isEmpty, let segment = SegmentName(name) else { return false }
        return held.kin(of: segment).contains { view.sidecar(of: $0).map(isWanted) ?? false }
    }

    /// Queues the held segments of the same priority and stream whose sidecars meet a condition.
    mutating func releaseKin(of name: String, seeing view: some SpoolView, where isWanted: (RetryState) -> Bool) {
        guard !held.isEmpty, let segment = SegmentName(name) else { return }
        let wanted = held.kin(of: segment).filter { view.sidecar(of: $0).map(isWanted) ?? false }
        for newcomer in held.release(Set(wanted)) { insert(newcomer.name, newcomer.entry, hasSidecar: true) }
    }

    private mutating func insert(_ name: String, _ entry: SpoolListing.Entry, hasSidecar: Bool) {
        isAddedTo = true
        queue.insert(name, entry, hasSidecar: hasSidecar)
    }

    /// Puts a segment back into the queue.
    mutating func putBack(_ item: QueuedSegment, hasSidecar: Bool) { insert(item.name, item.entry, hasSidecar: hasSidecar) }

    /// Lets a segment wait; `nil`: for the rest of the pass.
    mutating func setAside(
        _ item: QueuedSegment, hasSidecar: Bool, _ wait: Wait?, missedTurn: Bool = false, request: String? = nil
    ) {
        waiting.add(
            FileName(item.name),
            .init(entry: item.entry, hasSidecar: hasSidecar, wait: wait, missedTurn: missedTurn, request: request))
    }

    /// Queues what has waited long enough, or since before the clock was set back, or everything.
    @discardableResult
    mutating func wake(at now: Timestamp, all: Bool = false) -> Woken {
        var woken = Woken()
        guard !waiting.isEmpty, failure == nil else { return woken }
        for (name, wait) in waiting.wake(at: now, all: all) {
            // What is new is placed by the spool's schedule.
            if wait.isFresh {
                let found = FoundSegment(name: name.text, entry: wait.entry)
                woken.new.append(Newcomer(found: found, hasSidecar: false, missedTurn: false))
            } else {
                insert(name.text, wait.entry, hasSidecar: wait.hasSidecar)
                woken.missedTurn = woken.missedTurn || wait.missedTurn
            }
        }
        return woken
    }

    /// Queues the first of those that would wait until a moment at most.
    mutating func wakeFirst(_ count: Int, dueBy moment: Timestamp) {
        for (name, wait) in waiting.wakeFirst(count, dueBy: moment) { insert(name.text, wait.entry, hasSidecar: wait.hasSidecar) }
    }

    /// Changes what is known of other processes' segments.
    mutating func contend<Value>(_ body: (inout Contention) -> Value) -> Value { body(&contention) }

    /// Counts a request's try, and returns how often it has been tried.
    mutating func countTry(of name: String) -> Int {
        tries[FileName(name), default: 0] += 1
        return tries[FileName(name), default: 1]
    }

    mutating func forgetTries(of name: String? = nil) {
        if let name { tries[FileName(name)] = nil } else { tries = [:] }
    }
}

/// What goes out.
extension SpoolQueue {
    /// Where the next segment stands in comparison with other queues'; smaller leaves first.
    struct Rank: Comparable {
        let priority: Priority
        /// 0 leaves by the next deadline, 1 later, 2 is late. Where nothing has to be in time: 1 is live, and the backlog 2, or 0 in its turn.
        let urgency: Int

        init(_ entry: SpoolListing.Entry, _ rules: SegmentQueue.Rules) {
            priority = entry.priority
            if rules.isBacklog(entry.created) {
                urgency = rules.takesBacklog ? 0 : 2
                return
            }
            urgency = rules.isLate(entry.created) ? 2 : rules.dueBefore.map { entry.created < $0 ? 0 : 1 } ?? 1
        }

        static func < (left: Rank, right: Rank) -> Bool { (left.priority, left.urgency) < (right.priority, right.urgency) }
    }

    /// Returns the rank of the next segment; `nil` when none may leave.
    mutating func nextRank() -> Rank? {
        guard isUsable, let index = queue.next(effectiveRules) else { return nil }
        return Rank(queue.listing.entries[index], rules)
    }

    /// Returns how often the next segment was tried.
    mutating func triesOfNext(seeing view: some SpoolView) -> Int {
        queue.next(effectiveRules).map { Self.tries(of: queue.listing.entries[$0], in: queue.listing, view) } ?? 0
    }

    private static func tries(of entry: SpoolListing.Entry, in listing: SpoolListing, _ view: some SpoolView) -> Int {
        entry.hasSidecar ? view.sidecar(of: listing.name(of: entry))?.attempts ?? 0 : 0
    }

    /// Takes the next segment.
    ///
    /// - Parameter sized: With its size, which the listing may not have.
    mutating func takeNext(sized: Bool = false, seeing view: some SpoolView) -> QueuedSegment? {
        queue.next(effectiveRules).map { take($0, sized ? self.sized($0, view) : queue.listing.entries[$0]) }
    }

    /// Returns an entry with its size, where the file can be examined.
    private func sized(_ index: Int, _ view: some SpoolView) -> SpoolListing.Entry {
        var entry = queue.listing.entries[index]
        if entry.size == nil { entry.size = view.size(of: queue.listing.name(of: entry)) }
        return entry
    }

    /// Returns those of the next segments of the same priority and stream whose sidecars meet a condition, wherever they stand in the queue.
    func kin(of name: String, atMost most: Int, seeing view: some SpoolView, where isWanted: (RetryState) -> Bool) -> [Int] {
        guard isUsable, let segment = SegmentName(name) else { return [] }
        var wanted: [Int] = []
        for kin in queue.kin(of: segment) where wanted.count < most {
            if let sidecar = view.sidecar(of: kin.name), isWanted(sidecar) { wanted.append(kin.index) }
        }
        return wanted
    }

    /// Takes segments that ``kin(of:atMost:seeing:where:)`` has found.
    mutating func takeKin(_ indices: some Collection<Int>, seeing view: some SpoolView) -> [QueuedSegment] {
        indices.map { index in
            var entry = sized(index, view)
            // It may have got its sidecar since the listing.
            entry.hasSidecar = true
            return take(index, entry)
        }
    }

    /// Returns a segment that was tried least, which stays in the queue.
    mutating func probe(
        seeing view: some SpoolView, using generator: inout some RandomNumberGenerator
    ) -> SegmentQueue.Probe? {
        let listing = queue.listing
        return queue.probe(effectiveRules, using: &generator) { Self.tries(of: listing.entries[$0], in: listing, view) }
    }

    mutating func take(_ probe: SegmentQueue.Probe) -> QueuedSegment { take(probe.index, queue.listing.entries[probe.index]) }

    /// Takes the next segment if it meets a condition.
    mutating func takeNext(seeing view: some SpoolView, where fits: (SpoolListing.Entry, String) -> Bool) -> QueuedSegment? {
        guard let index = queue.next(effectiveRules) else { return nil }
        let entry = sized(index, view)
        let name = queue.listing.name(of: entry)
        return !isSeparated(name) && fits(entry, name) ? take(index, entry) : nil
    }

    private func isSeparated(_ name: String) -> Bool { !separated.isEmpty && separated.contains(FileName(name)) }

    private var effectiveRules: SegmentQueue.Rules {
        var rules = rules
        if gate == .critical { rules.lowest = .critical }
        return rules
    }

    private mutating func take(_ index: Int, _ entry: SpoolListing.Entry) -> QueuedSegment {
        let name = queue.listing.name(of: entry)
        let item = QueuedSegment(
            name: name, entry: entry, mayBeUnfinished: isAddedTo || queue.listing.openJournals > 0,
            isPlain: knowsArrivals && queue.listing.isPlain(at: index), wasTaken: contention.wasTaken(name),
            isLate: rules.isLate(entry.created), goesAlone: isSeparated(name), forgetsWaitsBefore: forgetsWaitsBefore)
        queue.take(index)
        alone = max(0, alone - 1)
        if item.goesAlone { separated.remove(FileName(item.name)) }
        return item
    }
}
