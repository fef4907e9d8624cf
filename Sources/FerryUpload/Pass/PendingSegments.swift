public import FerrySpool

/// A pending segment and what it waits for.
public struct PendingSegment: Sendable {
    public enum State: Equatable, Sendable {
        case due
        /// Its own back-off, or its destination's, is not over.
        case waits(until: Timestamp)
        /// It may be still being written.
        case settles(until: Timestamp)
        /// It is no whole gzip file, and given up if it is none then.
        case unfinished(until: Timestamp)
        /// It travels by hand, in the bundle of this ID, and waits for its receipt.
        case exported(bundle: String)
    }

    public let name: String
    public let priority: Priority
    public let created: Timestamp
    public let size: ByteCount
    public let state: State
    /// `nil` when it was never tried.
    public let retry: RetryState?
    /// Why its file cannot be examined.
    public let failure: FileError?
    /// What its header and notes tell, where they were looked at.
    public let notes: Examination?
}

/// The pending segments of a spool in upload order, looked at one by one: a spool may hold a million.
public struct PendingSegments: Sequence, IteratorProtocol {
    private let spool: Spool
    private let now: Timestamp
    private let listing: SpoolListing
    private let travelling: TravellingSegments
    private var index = 0

    public init(_ spool: Spool, now: Timestamp) throws(FileError) {
        self.spool = spool
        self.now = now
        listing = try spool.scan()
        travelling = try spool.travelling(in: listing)
    }

    public var count: Int { listing.entries.count }

    public mutating func next() -> PendingSegment? {
        while index < listing.entries.count {
            let entry = listing.entries[index]
            index += 1
            let name = listing.name(of: entry)
            var failure: FileError?
            var status: FileStatus?
            do throws(FileError) {
                // Gone since the scan, or no regular file.
                guard let found = try spool.directory.status(name), found.isRegular else { continue }
                status = found
                try spool.directory.requireTaking(name, owner: found.owner)
            } catch {
                failure = error
            }
            let retry = entry.hasSidecar ? (try? spool.sidecar(of: name)) ?? nil : nil
            var state = PendingSegment.State.due
            if let bundle = spool.entry(of: name, in: travelling)?.bundle {
                state = .exported(bundle: bundle)
            } else if let status, let until = (try? spool.settles(name, status, now: now)) ?? nil {
                state = .settles(until: until)
            } else if let until = retry?.wait(at: now, longestWait: BackOff.standard.longestWait) {
                state = .waits(until: until)
            }
            var notes: Examination?
            if state == .due, let status, now - status.changed < ForeignFile.patience {
                if !entry.isForeign { notes = (try? spool.notes(of: name)) ?? nil }
                let isQuiet = ForeignFile.isQuiet(changed: status.changed, now: now)
                if let until = becomesWhole(name, entry, notes, changed: status.changed) {
                    state = isQuiet ? .unfinished(until: until) : .settles(until: until)
                }
            }
            return PendingSegment(
                name: name, priority: entry.priority, created: entry.created, size: status?.size ?? .zero, state: state,
                retry: retry, failure: failure, notes: notes)
        }
        return nil
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
