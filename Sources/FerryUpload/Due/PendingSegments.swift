package import FerrySpool

/// The pending segments of a spool in upload order, looked at one by one: a spool may hold a million.
package struct PendingSegments: Sequence, IteratorProtocol {
    private let spool: Spool
    private let now: Timestamp
    private var rules: SegmentQueue.Rules
    private var liveShare = LiveShare()
    private let longestWait: Duration
    private let travelling: TravellingSegments
    /// As an uploader works through them.
    private var queue: SegmentQueue
    /// Where the search for those that the rules hold back goes on, once all others were looked at.
    private var heldBack: Int?

    /// - Parameter now: When they are looked at.
    /// - Throws: `FileError` when the folder cannot be listed.
    package init(_ spool: Spool, now: Timestamp) throws(FileError) {
        try self.init(spool, try spool.scan(), .everything, longestWait: BackOff.standard.longestWait, now: now)
    }

    /// - Parameters:
    ///   - rules: What goes before what. What they hold back comes last.
    ///   - longestWait: No wait that was meant is longer.
    init(
        _ spool: Spool, _ listing: SpoolListing, _ rules: SegmentQueue.Rules, longestWait: Duration, now: Timestamp
    ) throws(FileError) {
        (self.spool, self.now, self.rules, self.longestWait) = (spool, now, rules, longestWait)
        travelling = try spool.exports.travelling(in: listing)
        queue = SegmentQueue(listing)
    }

    package var count: Int { queue.listing.entries.count }

    package mutating func next() -> PendingSegment? { nextWithIndex()?.segment }

    /// Returns the next segment with its place in the listing.
    mutating func nextWithIndex() -> (index: Int, segment: PendingSegment)? {
        while let index = nextIndex() {
            queue.take(index)
            if let segment = segment(queue.listing.entries[index]) { return (index, segment) }
        }
        return nil
    }

    /// How many were not taken yet.
    var left: Int { queue.listing.entries.count { !$0.isTaken } }

    /// Returns whether the segment at a place in the listing was not taken yet.
    func isLeft(_ index: Int) -> Bool { !queue.listing.entries[index].isTaken }

    /// Takes the segment at a place in the listing, and looks at it.
    mutating func take(_ index: Int) -> PendingSegment? {
        queue.take(index)
        return segment(queue.listing.entries[index])
    }

    private mutating func nextIndex() -> Int? {
        rules.takesBacklog = liveShare.isBacklogsTurn
        if heldBack == nil, let index = queue.next(rules) {
            liveShare.took(backlog: rules.isBacklog(queue.listing.entries[index].created))
            return index
        }
        let entries = queue.listing.entries
        let next = entries.indices[(heldBack ?? 0)...].first { !entries[$0].isTaken }
        heldBack = next ?? entries.count
        return next
    }

    /// Returns what is known of an entry; `nil` where its file is gone since the listing, or no regular one.
    private func segment(_ entry: SpoolListing.Entry) -> PendingSegment? {
        let name = queue.listing.name(of: entry)
        var failure: FileError?
        var status: FileStatus?
        do throws(FileError) {
            guard let found = try spool.directory.status(name), found.isRegular else { return nil }
            status = found
            try spool.directory.requireTaking(name, owner: found.owner)
        } catch {
            failure = error
        }
        let retry = entry.hasSidecar ? (try? spool.sidecars.read(of: name)) ?? nil : nil
        var state = PendingSegment.State.due
        if let bundle = spool.exports.entry(of: name, in: travelling)?.bundle {
            state = .exported(bundle: bundle)
        } else if let status, let until = (try? spool.settles(name, status, now: now)) ?? nil {
            state = .beingWritten(until: until)
        } else if let until = retry?.wait(at: now, longestWait: longestWait) {
            state = .waits(until: until)
        }
        var notes: Examination?
        if state == .due, let status, now - spool.touched(status) < ForeignFile.patience {
            if !entry.isForeign { notes = (try? spool.notes(of: name)) ?? nil }
            let isQuiet = ForeignFile.isQuiet(changed: spool.touched(status), now: now)
            if let until = becomesWhole(name, entry, notes, changed: spool.touched(status)) {
                state = isQuiet ? .unfinished(until: until) : .beingWritten(until: until)
            }
        }
        return PendingSegment(
            name: name, priority: entry.priority, created: entry.created, size: status?.size ?? .zero, state: state,
            retry: retry, failure: failure, notes: notes)
    }

    /// When a file that is not whole, and changed not long ago, is given up; `nil` when it is whole, or will never be.
    private func becomesWhole(
        _ name: String, _ entry: SpoolListing.Entry, _ notes: Examination?, changed: Timestamp
    ) -> Timestamp? {
        // Notes that contradict the file say nothing of it.
        guard entry.isForeign || notes?.damage != nil else { return nil }
        guard let damage = (try? spool.damage(of: name)) ?? nil, damage.kind != .tooLarge else { return nil }
        guard entry.isForeign else { return ForeignFile.mayBecomeWhole(damage.kind, changed: changed, now: now) }
        return changed + ForeignFile.patience
    }
}
