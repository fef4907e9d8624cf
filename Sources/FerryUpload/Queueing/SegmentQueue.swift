import FerrySpool

/// The segments of one spool that are not under way, in the order in which they are to leave.
struct SegmentQueue: Sendable {
    /// What may leave now, and what goes before what.
    struct Rules: Equatable, Sendable {
        /// The least urgent priority that may leave.
        var lowest = Priority.bulk
        /// Segments created before this moment have missed their deadline: within their priority they let others go first.
        var lateBefore: Timestamp?
        /// Those created before this moment leave by the next deadline.
        var dueBefore: Timestamp?
        /// Whether late segments leave at all.
        var sendsLate = true
        /// Within their priority, segments created before this moment let others go first, but for their turns. A deadline decides where there is one.
        var liveSince: Timestamp?
        /// Whether it is a turn of those.
        var takesBacklog = false

        func isLate(_ created: Timestamp) -> Bool { lateBefore.map { created < $0 } ?? false }

        /// Returns whether a segment is of the backlog that others go before.
        func isBacklog(_ created: Timestamp) -> Bool { lateBefore == nil && liveSince.map { created < $0 } ?? false }

        /// From when on segments go before others of their priority; `nil`: the oldest goes first.
        fileprivate var firstFrom: Timestamp? { lateBefore ?? (takesBacklog ? nil : liveSince) }

        static let everything = Rules()

        /// Goes by a deadline as it stands now.
        mutating func apply(_ deadline: DueTime, at now: Timestamp) {
            let standing = deadline.standing(at: now)
            lateBefore = standing.lateBefore
            dueBefore = standing.dueBefore
            sendsLate = deadline.late == .send
        }
    }

    private(set) var listing: SpoolListing
    /// All entries before it are taken.
    private var head = 0
    /// Entries that are taken, wherever they are: late ones that are held back stay before them.
    private var taken = 0
    /// Where the search for segments that go before others may begin, for this priority and moment.
    private var inTime: (priority: Priority, moment: Timestamp, index: Int)?

    /// The names from other tools, whose place in the order their names do not tell.
    private var foreign: Set<FileName> = []

    init(_ listing: SpoolListing = SpoolListing()) {
        self.listing = listing
        for entry in listing.entries where entry.isForeign { foreign.insert(listing.name(of: entry)) }
    }

    /// Returns the next one, which stays in the queue; `nil` when nothing may leave.
    mutating func next(_ rules: Rules = .everything) -> Int? {
        head = firstUntaken(from: head)
        var index = head
        while index < listing.entries.count {
            let entry = listing.entries[index]
            if entry.priority > rules.lowest { return nil }
            guard let moment = rules.firstFrom, entry.created < moment else { return index }
            if let index = firstFrom(moment, of: entry.priority) { return index }
            if rules.sendsLate || rules.lateBefore == nil { return index }
            index = firstUntaken(from: listing.index(of: entry.priority, from: .distantFuture, after: index))
        }
        return nil
    }

    /// A segment that may show how the destination is.
    struct Probe {
        let index: Int
        /// How often it was tried before.
        let attempts: Int
    }

    /// Returns any one that was never tried, or else the one tried least among some; it stays in the queue.
    ///
    /// Any one, because what is wrong with one segment is often wrong with its neighbours too, at both ends of the line: if a half of the
    /// segments is sound, so is every second probe, wherever they are.
    ///
    /// - Parameter attempts: How often an entry was tried before.
    mutating func probe(
        _ rules: Rules = .everything, using generator: inout some RandomNumberGenerator, attempts: (Int) -> Int
    ) -> Probe? {
        head = firstUntaken(from: head)
        let range = head..<max(head, listing.index(of: rules.lowest, from: .distantFuture, after: head))
        guard !range.isEmpty else { return nil }
        var best: Probe?
        func look(at index: Int) -> Bool {
            let entry = listing.entries[index]
            if entry.isTaken || (!rules.sendsLate && rules.isLate(entry.created)) { return false }
            let tries = attempts(index)
            if tries < best?.attempts ?? .max { best = Probe(index: index, attempts: tries) }
            return true
        }
        var looked = 0
        // Of many, one here and one there: a search from one place would not get past a long row that was tried.
        if range.count > Self.probeSearchLimit {
            for _ in 0..<Self.probeSearchLimit where best?.attempts != 0 {
                if look(at: .random(in: range, using: &generator)) { looked += 1 }
            }
        }
        var index = Int.random(in: range, using: &generator)
        for _ in range where best?.attempts != 0 && looked < Self.probeSearchLimit {
            if look(at: index) { looked += 1 }
            index = index + 1 == range.upperBound ? range.lowerBound : index + 1
        }
        return best
    }

    /// A sidecar must be read for each; an outage leaves one on a handful of segments.
    private static let probeSearchLimit = 256

    /// Returns the next segments of one's priority and stream, in their order.
    func kin(of segment: SegmentName) -> [(index: Int, name: String)] {
        let start = listing.index(of: segment.priority, from: .distantPast, after: head)
        var kin: [(index: Int, name: String)] = []
        for index in listing.entries.indices[start...].prefix(Self.kinSearchLength) {
            let entry = listing.entries[index]
            guard entry.priority == segment.priority, kin.count < Self.mostKin else { break }
            if entry.isTaken || entry.isForeign { continue }
            let name = listing.name(of: entry)
            if SegmentName(name)?.stream == segment.stream { kin.append((index, name)) }
        }
        return kin
    }

    /// What went out together stood together, but for what has come between since.
    private static let kinSearchLength = 1 << 16
    /// Of each, a sidecar is looked for.
    private static let mostKin = 2048

    mutating func take(_ index: Int) {
        listing.entries[index].isTaken = true
        taken += 1
        if listing.entries[index].isForeign { foreign.remove(listing.name(of: listing.entries[index])) }
    }

    /// Adds a segment that appeared, or comes back.
    ///
    /// - Parameter entry: What is known of it.
    mutating func insert(_ name: String, _ entry: SpoolListing.Entry, hasSidecar: Bool) {
        if taken > 1024, taken > listing.entries.count / 2 {
            listing.dropTaken()
            taken = 0
            head = 0
            inTime = nil
        }
        // What has no room in a listing, the next scan finds.
        guard let index = listing.insert(name, like: entry, hasSidecar: hasSidecar, after: head) else { return }
        if let inTime, index < inTime.index { self.inTime = nil }
        if listing.entries[index].isForeign { foreign.insert(name) }
    }

    /// Takes out what was created after a moment and was not there before, as an earlier queue knew it.
    ///
    /// - Returns: The segments, and whether they had sidecars.
    mutating func takeNew(since moment: Timestamp, before: SegmentQueue) -> [(FoundSegment, hasSidecar: Bool)] {
        var new: [(FoundSegment, hasSidecar: Bool)] = []
        for priority in (0..<Priority.levels).compactMap({ Priority($0) }) {
            var index = listing.index(of: priority, from: moment, after: 0)
            while index < listing.entries.count, listing.entries[index].priority == priority {
                let entry = listing.entries[index]
                let name = listing.name(of: entry)
                if !entry.isTaken, !before.contains(name) {
                    take(index)
                    new.append((FoundSegment(name: name, entry: entry), entry.hasSidecar))
                }
                index += 1
            }
        }
        return new
    }

    /// Returns whether a segment is in the queue.
    func contains(_ name: String) -> Bool {
        guard let segment = SegmentName(name) else { return foreign.contains(name) }
        var index = listing.index(of: segment.priority, from: segment.created, after: head)
        while index < listing.entries.count, listing.entries[index].created == segment.created,
            listing.entries[index].priority == segment.priority
        {
            if !listing.entries[index].isTaken, listing.name(of: listing.entries[index]) == name { return true }
            index += 1
        }
        return false
    }

    /// The segments still in the queue.
    var remaining: some Sequence<SpoolListing.Entry> { listing.entries[head...].lazy.filter { !$0.isTaken } }

    private func firstUntaken(from start: Int) -> Int {
        var index = start
        while index < listing.entries.count, listing.entries[index].isTaken { index += 1 }
        return index
    }

    private mutating func firstFrom(_ moment: Timestamp, of priority: Priority) -> Int? {
        var start = head
        if let inTime, inTime.priority == priority, inTime.moment == moment {
            start = max(head, inTime.index)
        } else {
            start = listing.index(of: priority, from: moment, after: head)
        }
        let index = firstUntaken(from: start)
        inTime = (priority, moment, index)
        guard index < listing.entries.count, listing.entries[index].priority == priority else { return nil }
        return index
    }
}

extension SegmentQueue.Rules {
    /// - Parameter deadline: Counts as it stands at the moment; `nil`: data may arrive at any time.
    init(_ deadline: DueTime?, at now: Timestamp) {
        self.init()
        if let deadline { apply(deadline, at: now) }
    }
}
