import FerrySpool

/// What of a spool may leave now.
enum LaneGate: Comparable, Sendable {
    case closed
    /// Critical segments alone.
    case critical
    case open
}

/// What workers need of a spool.
final class LaneTools: Sendable {
    let lease: SpoolLease
    let settler: Settler
    let bookkeeper: Bookkeeper
    let travel = TravelWatch()
    let requests: RequestNoting
    /// What comes while a listing is worked off; `nil` where that is not known.
    let arrivals: FolderArrivals?
    let preparer: Preparer
    let onEvent: @Sendable (UploadEvent) -> Void
    /// No wait that was meant is longer.
    let longestWait: Duration

    init(
        _ lease: SpoolLease, options: UploadOptions, arrivals: FolderArrivals? = nil, tally: EndingTally = EndingTally(),
        now: @escaping @Sendable () -> Timestamp, onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) {
        self.lease = lease
        self.onEvent = onEvent
        requests = RequestNoting(lease)
        longestWait = options.backOff.longestWait
        self.arrivals = arrivals
        preparer = Preparer(options: options, travel: travel, arrivals: arrivals) { onEvent(.warning($0)) }
        settler = Settler(lease, sentGivesWay: options.sentGivesWay, tally: tally, onEvent: onEvent)
        bookkeeper = Bookkeeper(lease: lease, options: options, settler: settler, now: now) { onEvent(.warning($0)) }
    }

    /// Has what dead processes had under way made again as it was, or ended.
    func restoreRequests(in spool: Spool) {
        spool.restoreRequests(keepsSent: bookkeeper.options.keepsSent, sentGivesWay: bookkeeper.options.sentGivesWay) {
            onEvent(.warning("\($0)"))
        }
    }
}

/// One spool's part in a delivery: what is queued, what waits, and what may leave.
struct Lane {
    let tools: LaneTools
    private(set) var queue = SegmentQueue()
    /// What is not due, by name.
    private(set) var waiting: [FileName: Waiting] = [:]
    /// What waits for its spool's time to send.
    private(set) var held = HeldSegments()
    /// Sidecars written before this moment count for nothing: the network has changed since.
    var forgetsWaitsBefore: Timestamp?
    var gate = LaneGate.open
    var rules = SegmentQueue.Rules.everything
    var tally = Tally()
    /// Why the spool cannot be used.
    var failure: FileError?
    /// How many of the next segments go out one by one, because the link is bad.
    var alone = 0
    /// Those that go out by themselves, because together they were refused.
    var separated: Set<FileName> = []

    /// How often segments were found in others' hands.
    private(set) var foundTaken: [FileName: Int] = [:]
    /// How often others of their requests were found so.
    private var foundTorn: [FileName: Int] = [:]
    /// How often requests were tried by this process, where that is counted.
    private(set) var tries: [FileName: Int] = [:]

    struct Waiting {
        let entry: SpoolListing.Entry
        let hasSidecar: Bool
        /// `nil`: for the rest of the pass.
        let wait: Wait?
        /// It was just made, and only its writer's end shows that it is whole.
        var isFresh = false
        /// Its turn had come, but it was in other hands or still being written: it was not tried.
        var missedTurn = false
        /// The key of the request that it is to be repeated in with others, as far as it is known.
        var request: String?
    }

    /// A segment that is to be queued, or held.
    struct Newcomer {
        let name: String
        let entry: SpoolListing.Entry
        let hasSidecar: Bool
        /// Its turn had come before.
        let missedTurn: Bool
    }

    /// What has waited long enough.
    struct Woken {
        /// What was just made, and whose writer was waited for: it is not in the queue.
        var new: [Newcomer] = []
        /// A segment is in the queue again whose turn had come before.
        var missedTurn = false
    }

    /// What a round left behind.
    struct Tally: Sendable {
        /// Segments that ended, or that somebody else ended.
        var ended = 0
        /// Taken by somebody else.
        private(set) var taken = 0
        /// The first of them.
        private(set) var takenNames: [String] = []
        /// Segments that could not be opened or locked.
        private(set) var unusable = 0
        /// Why, for the first of them.
        private(set) var unusableReasons: [FileError] = []
        /// Files that are not whole, and may become so within minutes.
        private(set) var incomplete = 0
        /// When all files that were just copied in can be looked at again.
        private(set) var settlesAt: Timestamp?

        /// - Parameter moment: When a file that may be still being written can be looked at; one that is given minutes holds up nobody.
        mutating func noteSettling(at moment: Timestamp, now: Timestamp) {
            guard moment - now <= ForeignFile.quietPeriod else {
                incomplete += 1
                return
            }
            settlesAt = max(settlesAt ?? moment, moment)
        }

        mutating func noteTaken(_ name: String) {
            taken += 1
            if takenNames.count < 20 { takenNames.append(name) }
        }

        mutating func note(_ error: FileError) {
            unusable += 1
            if unusableReasons.count < 20 { unusableReasons.append(error) }
        }
    }

    init(_ tools: LaneTools) { self.tools = tools }

    /// Nothing more leaves by this lane, and nothing of it is remembered, until another spool has it.
    mutating func vacate(_ reason: FileError) {
        self = Lane(tools)
        failure = reason
        gate = .closed
    }

    /// How many segments the last listing had, without those that were not to be counted.
    private(set) var listed = 0

    var isUsable: Bool { failure == nil && gate != .closed }

    /// Begins over what is pending now. What waits goes on waiting.
    ///
    /// - Parameter excluded: The names of segments that are just being sent, or travel by hand.
    mutating func begin(_ listing: SpoolListing, except excluded: Set<FileName> = []) {
        queue = SegmentQueue(listing)
        listed = listing.entries.count
        isAddedTo = false
        tally = Tally()
        separated.formIntersection(
            separated.isEmpty ? [] : listing.entries.indices.map { FileName(listing.name(of: listing.entries[$0])) })
        guard
            !waiting.isEmpty || !held.isEmpty || !excluded.isEmpty || !foundTaken.isEmpty || !foundTorn.isEmpty || !tries.isEmpty
        else { return }
        var found: [FileName: Waiting] = [:]
        var stillHeld = HeldSegments()
        var (stillTaken, stillTorn, stillTried): ([FileName: Int], [FileName: Int], [FileName: Int]) = ([:], [:], [:])
        for index in listing.entries.indices {
            let name = FileName(listing.name(of: listing.entries[index]))
            if let wait = waiting[name] { found[name] = wait }
            stillHeld.take(name, from: held)
            stillTaken[name] = foundTaken[name]
            stillTorn[name] = foundTorn[name]
            stillTried[name] = tries[name]
            if excluded.contains(name) { listed -= 1 }
            if waiting[name] != nil || held.contains(name) || excluded.contains(name) { queue.take(index) }
        }
        // What is gone from the folder is forgotten.
        (waiting, held, foundTaken, foundTorn, tries) = (found, stillHeld, stillTaken, stillTorn, stillTried)
    }

    /// Takes out of the queue what was created after a moment and was not there before, as an earlier queue knew it.
    mutating func takeNew(since moment: Timestamp, before: SegmentQueue) -> [Newcomer] {
        var new: [Newcomer] = []
        for priority in (0..<Priority.levels).compactMap({ Priority($0) }) {
            var index = queue.listing.index(of: priority, from: moment, after: 0)
            while index < queue.listing.entries.count, queue.listing.entries[index].priority == priority {
                let entry = queue.listing.entries[index]
                let name = queue.listing.name(of: entry)
                if !entry.isTaken, !before.contains(name) {
                    queue.take(index)
                    new.append(Newcomer(name: name, entry: entry, hasSidecar: entry.hasSidecar, missedTurn: false))
                }
                index += 1
            }
        }
        return new
    }

    /// Where the next segment stands in comparison with other lanes'; `nil` when none may leave.
    mutating func nextRank() -> Rank? {
        guard isUsable, let index = queue.next(effectiveRules) else { return nil }
        return Rank(queue.listing.entries[index], rules)
    }

    /// Smaller leaves first.
    struct Rank: Comparable {
        let priority: Priority
        /// 0 leaves by the next deadline, 1 later, 2 is late.
        let urgency: Int

        init(_ entry: SpoolListing.Entry, _ rules: SegmentQueue.Rules) {
            priority = entry.priority
            urgency = rules.isLate(entry.created) ? 2 : rules.dueBefore.map { entry.created < $0 ? 0 : 1 } ?? 1
        }

        static func < (left: Rank, right: Rank) -> Bool { (left.priority, left.urgency) < (right.priority, right.urgency) }
    }

    /// How often the next segment was tried.
    mutating func triesOfNext() -> Int {
        queue.next(effectiveRules).map { Self.tries(of: queue.listing.entries[$0], in: queue.listing, tools.lease) } ?? 0
    }

    private static func tries(of entry: SpoolListing.Entry, in listing: SpoolListing, _ lease: SpoolLease) -> Int {
        guard entry.hasSidecar else { return 0 }
        return ((try? lease.spool().sidecar(of: listing.name(of: entry))) ?? nil)?.attempts ?? 0
    }

    /// Takes the next segment.
    ///
    /// - Parameter sized: With its size, which the listing may not have.
    mutating func takeNext(sized: Bool = false) -> Dispatcher.Item? {
        queue.next(effectiveRules).map { take($0, sized ? self.sized($0) : queue.listing.entries[$0]) }
    }

    /// An entry with its size, where the file can be examined.
    private func sized(_ index: Int) -> SpoolListing.Entry {
        var entry = queue.listing.entries[index]
        guard entry.size == nil, let spool = try? tools.lease.spool() else { return entry }
        entry.size = ((try? spool.directory.status(queue.listing.name(of: entry))) ?? nil)?.size
        return entry
    }

    /// What a segment's sidecar says; `nil` where there is none, or none that can be read.
    func sidecar(of name: String) -> RetryState? { (try? tools.lease.spool().sidecar(of: name)) ?? nil }

    /// Those of the next segments of one's kind of whose sidecars something is so, wherever they stand in the line.
    func kin(of name: String, atMost most: Int, where isWanted: (RetryState) -> Bool) -> [Int] {
        guard isUsable, let segment = SegmentName(name) else { return [] }
        var wanted: [Int] = []
        for kin in queue.kin(of: segment) where wanted.count < most {
            if let sidecar = sidecar(of: kin.name), isWanted(sidecar) { wanted.append(kin.index) }
        }
        return wanted
    }

    /// Takes some that ``kin(of:atMost:where:)`` has found.
    mutating func takeKin(_ indices: some Collection<Int>) -> [Dispatcher.Item] {
        indices.map { index in
            var entry = sized(index)
            // It may have got its sidecar since the listing.
            entry.hasSidecar = true
            return take(index, entry)
        }
    }

    /// A segment that was tried least, which stays in the queue.
    mutating func probe(using generator: inout some RandomNumberGenerator) -> SegmentQueue.Probe? {
        let lease = tools.lease
        let listing = queue.listing
        return queue.probe(effectiveRules, using: &generator) { Self.tries(of: listing.entries[$0], in: listing, lease) }
    }

    mutating func take(_ probe: SegmentQueue.Probe) -> Dispatcher.Item { take(probe.index, queue.listing.entries[probe.index]) }

    /// Looks at the segment that would be next, and takes it if it fits.
    mutating func takeNext(where fits: (SpoolListing.Entry, String) -> Bool) -> Dispatcher.Item? {
        guard let index = queue.next(effectiveRules) else { return nil }
        let entry = sized(index)
        let name = queue.listing.name(of: entry)
        return !isSeparated(name) && fits(entry, name) ? take(index, entry) : nil
    }

    private func isSeparated(_ name: String) -> Bool { !separated.isEmpty && separated.contains(FileName(name)) }

    private var effectiveRules: SegmentQueue.Rules {
        var rules = rules
        if gate == .critical { rules.lowest = .critical }
        return rules
    }

    private mutating func take(_ index: Int, _ entry: SpoolListing.Entry) -> Dispatcher.Item {
        let name = queue.listing.name(of: entry)
        let item = Dispatcher.Item(
            name: name, entry: entry, mayBeUnfinished: isAddedTo || queue.listing.openJournals > 0,
            isPlain: tools.arrivals != nil && queue.listing.isPlain(at: index),
            wasTaken: !foundTaken.isEmpty && foundTaken[FileName(name)] != nil, isLate: rules.isLate(entry.created),
            goesAlone: isSeparated(name), forgetsWaitsBefore: forgetsWaitsBefore)
        queue.take(index)
        alone = max(0, alone - 1)
        if item.goesAlone { separated.remove(FileName(item.name)) }
        return item
    }

    /// Segments were added after the scan: nothing can be concluded from what it did not see.
    private var isAddedTo = false

    /// A segment appeared, or its writer has finished with it; `nil` when there is none of that name, or it is known already.
    mutating func appeared(_ name: String) -> Newcomer? {
        var missedTurn = false
        var hasSidecar = false
        if let wait = waiting[name] {
            // A back-off of its own goes on; what waited for its writer or for another's hands is looked at again.
            guard wait.isFresh || wait.missedTurn else { return nil }
            (missedTurn, hasSidecar) = (wait.missedTurn, wait.hasSidecar)
            waiting[name] = nil
        }
        guard !queue.contains(name), !held.contains(FileName(name)), let entry = entry(of: name) else { return nil }
        return Newcomer(name: name, entry: entry, hasSidecar: hasSidecar, missedTurn: missedTurn)
    }

    /// News came of a segment that could not be looked at: only a look at the whole folder shows it.
    private(set) var missedNews = false

    mutating func takeMissedNews() -> Bool {
        defer { missedNews = false }
        return missedNews
    }

    private mutating func entry(of name: String) -> SpoolListing.Entry? {
        var found = SpoolListing()
        do throws(FileError) {
            return try tools.lease.spool().add(name, to: &found).map { found.entries[$0] }
        } catch {
            missedNews = true
            return nil
        }
    }

    /// A segment may leave.
    mutating func enqueue(_ newcomer: Newcomer) { _ = insert(newcomer.name, hasSidecar: newcomer.hasSidecar) }

    /// A segment waits until it is released.
    mutating func hold(_ newcomer: Newcomer, events: Int64, until due: Duration, isUrgent: Bool) {
        held.add(newcomer, events: events, until: due, isUrgent: isUrgent)
    }

    /// Forgets what was held and others have sent. Of a folder that cannot be looked at nothing is gone.
    mutating func forgetGone() {
        guard let spool = try? tools.lease.spool() else { return }
        held.keep { (try? spool.directory.contains($0)) ?? true }
    }

    /// What was held may leave.
    mutating func release(_ what: HeldSegments.Share) { for newcomer in held.release(what) { enqueue(newcomer) } }

    /// Whether a segment of one's kind is held of whose sidecar something is so.
    func holdsKin(of name: String, where isWanted: (RetryState) -> Bool) -> Bool {
        guard !held.isEmpty, let segment = SegmentName(name) else { return false }
        return held.kin(of: segment).contains { sidecar(of: $0).map(isWanted) ?? false }
    }

    /// Those may leave.
    mutating func releaseKin(of name: String, where isWanted: (RetryState) -> Bool) {
        guard !held.isEmpty, let segment = SegmentName(name) else { return }
        let wanted = held.kin(of: segment).filter { sidecar(of: $0).map(isWanted) ?? false }
        for newcomer in held.release(Set(wanted)) { _ = insert(newcomer.name, hasSidecar: true) }
    }

    /// How many events a segment holds, as far as its notes tell.
    func notedEvents(of name: String) -> Int64 { (try? tools.lease.spool().notedEvents(of: name)) ?? 1 }

    private mutating func insert(_ name: String, hasSidecar: Bool) -> SpoolListing.Entry? {
        isAddedTo = true
        do throws(FileError) {
            return queue.insert(name, in: try tools.lease.spool(), hasSidecar: hasSidecar)
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// A file was made, which may be still being written.
    mutating func created(_ name: String, at now: Timestamp) {
        guard waiting[name] == nil, !queue.contains(name), !held.contains(FileName(name)), let entry = entry(of: name) else {
            return
        }
        let wait = Wait(since: now, until: now + ForeignFile.quietPeriod)
        waiting[name] = Waiting(entry: entry, hasSidecar: false, wait: wait, isFresh: true)
    }

    /// A segment goes back into the queue.
    mutating func putBack(_ item: Dispatcher.Item, hasSidecar: Bool) {
        _ = insert(item.name, hasSidecar: hasSidecar)
    }

    /// A segment is to be left alone for so long; `nil`: for the rest of the pass.
    mutating func setAside(
        _ item: Dispatcher.Item, hasSidecar: Bool, _ wait: Wait?, missedTurn: Bool = false, request: String? = nil
    ) {
        waiting[item.name] = Waiting(
            entry: item.entry, hasSidecar: hasSidecar, wait: wait, missedTurn: missedTurn, request: request)
    }

    /// When to look again at a segment that somebody else has: its writer lets go within milliseconds of its publication, another
    /// uploader may need minutes.
    mutating func patience(with name: String) -> Duration {
        let times = foundTaken[name, default: 0]
        foundTaken[name] = times + 1
        return min(Self.shortestPatience * (1 << min(times, 20)), Self.longestPatience)
    }

    /// Whether others have segments of the priority and stream of these besides them, as far as is known.
    func othersHave(besides names: [String]) -> Bool {
        guard let first = names.first.flatMap({ SegmentName($0) }) else { return false }
        let known = Set(names.map { FileName($0) })
        return foundTaken.keys.contains { name in
            guard !known.contains(name), let other = SegmentName(name.text) else { return false }
            // What was deleted since comes back no more.
            return (other.priority, other.stream) == (first.priority, first.stream) && isThere(name.text)
        }
    }

    private func isThere(_ name: String) -> Bool { (try? tools.lease.spool().directory.contains(name)) ?? true }

    /// How long a segment waits for others of its request that are in other hands.
    mutating func patienceForOthers(of name: String) -> Duration {
        let times = foundTorn[name, default: 0]
        foundTorn[name] = times + 1
        return min(Self.shortestPatience * (1 << min(times, 20)), Self.longestPatience)
    }

    /// Whether others of a segment's request were waited for so often that it is not worth a wait any more: two minutes, with twice the patience each
    /// time. How often it was in other hands itself says nothing: a request that lives may take long.
    func isHopeless(_ name: String) -> Bool { foundTorn[name, default: 0] >= 17 }

    /// No other process had the segment, or it is gone.
    mutating func foundFree(_ name: String) { (foundTaken[name], foundTorn[name]) = (nil, nil) }

    /// Counts a request's try, and returns how often it has been tried.
    mutating func countTry(of name: String) -> Int {
        tries[name, default: 0] += 1
        return tries[name, default: 1]
    }

    mutating func forgetTries(of name: String? = nil) {
        if let name { tries[name] = nil } else { tries = [:] }
    }

    static let shortestPatience = Duration.milliseconds(2)
    /// For what needs room on a full disk: what is sent meanwhile may make it.
    static let roomPatience = Duration.seconds(15)
    /// Also for a segment that cannot be opened.
    static let longestPatience = Duration.seconds(60)

    /// Puts back what has waited long enough, or since before the clock was set back, or everything.
    ///
    @discardableResult
    mutating func wake(at now: Timestamp, all: Bool = false) -> Woken {
        var woken = Woken()
        guard !waiting.isEmpty, failure == nil else { return woken }
        for (name, wait) in waiting {
            let isOver = wait.wait?.isOver(at: now, longest: tools.longestWait) ?? false
            // What is new is placed by who asks for it.
            guard all ? !wait.isFresh : isOver else { continue }
            waiting[name] = nil
            if wait.isFresh {
                woken.new.append(Newcomer(name: name.text, entry: wait.entry, hasSidecar: false, missedTurn: false))
            } else {
                _ = insert(name.text, hasSidecar: wait.hasSidecar)
                woken.missedTurn = woken.missedTurn || wait.missedTurn
            }
        }
        return woken
    }

    /// Puts back the first of those that would wait until a moment at most.
    mutating func wakeFirst(_ count: Int, dueBy moment: Timestamp) {
        let waiting = waiting.filter { !$0.value.isFresh && $0.value.wait.map { $0.until <= moment } ?? false }
        func isBefore(_ left: SpoolListing.Entry, _ right: SpoolListing.Entry) -> Bool {
            (left.priority, left.created) < (right.priority, right.created)
        }
        for (name, wait) in waiting.sorted(by: { isBefore($0.value.entry, $1.value.entry) }).prefix(count) {
            self.waiting[name] = nil
            _ = insert(name.text, hasSidecar: wait.hasSidecar)
        }
    }

    /// When all of a request that wait are looked at again; `nil`: none waits, as far as is known.
    func reunion(of request: String) -> Timestamp? {
        waiting.values.lazy.filter { $0.request == request }.compactMap(\.wait?.until).max()
    }

    /// When the next of those that wait is due.
    var nextWake: Timestamp? { waiting.values.lazy.compactMap(\.wait?.until).min() }
}
