import FerrySpool
import FerryUpload

extension SpoolFacts {
    /// Sees how a spool is. Nothing in it changes.
    ///
    /// - Parameters:
    ///   - path: What the spool is called in what is shown.
    ///   - registration: What the hub's list says of the machine that it belongs to.
    ///   - deadline: When data must have arrived; `nil`: as the uploader has it that runs, or ran last.
    ///   - locks: Which files processes of this machine hold.
    init(
        _ spool: Spool, named path: String, lane: LaneName? = nil, at now: Timestamp, registration: Registration? = nil,
        deadline: DueTime? = nil, locks: HeldLocks
    ) {
        self.init(path, lane: lane)
        self.registration = registration
        note(spool.stateFailure)
        note(spool.sentFailure)
        look { () throws(FileError) in try spool.ledger.requireFiles() }
        control = look { () throws(FileError) in try spool.control.read() } ?? SpoolControl()
        let known = look { () throws(FileError) in try spool.uploaderMark.read(locks) } ?? nil
        uploader = known.flatMap { $0.isRunning ? $0.mark : nil }
        var unreadable: FileError?
        let failing = spool.failingDestinations { unreadable = unreadable ?? $0 }
        note(unreadable)
        failure = Standstill.failure(of: failing, for: uploader)
        standstill = Standstill(control: control, uploader: uploader, destinations: failing, at: now)
        if let listing = look({ () throws(FileError) in try spool.scan(sizes: true) }) {
            add(listing, lateBefore: (deadline ?? known?.mark.deadline.flatMap { DueTime($0) })?.standing(at: now).lateBefore)
            let times = ArrivalTimes(of: spool, with: listing) { unreadable = unreadable ?? $0 }
            note(unreadable)
            look(at: times, of: spool, now)
        }
        if let found = look({ () throws(FileError) in try spool.rejected.summary() }) {
            (rejected, rejection) = (found.count, found.first)
        }
        travelling = look { () throws(FileError) in try spool.exports.travellingBundles() } ?? []
    }

    /// Sees when something came last, and whether that is unusually long ago.
    mutating func look(at times: ArrivalTimes, of spool: Spool, _ now: Timestamp) {
        last = times.last ?? spool.received.changed
        let known = times.sorted.isEmpty ? [last].compactMap(\.self) : times.sorted
        isSilent =
            switch registration {
            // One that may send no more is silent for good.
            case let registration? where registration.isRevoked: false
            case let registration? where known.isEmpty: Silence.isUnusual(neverSince: registration.since, now: now)
            default: Silence.isUnusual(known, now: now, isExpected: registration != nil)
            }
    }

    private mutating func add(_ listing: SpoolListing, lateBefore: Timestamp?) {
        note(listing.problems.first)
        pending = Int64(listing.entries.count)
        bytes = listing.segmentBytes
        others = listing.others
        for entry in listing.entries {
            oldest = min(oldest ?? entry.created, entry.created)
            byPriority[entry.priority, default: .init()].add(entry.size ?? .zero, created: entry.created)
            if let lateBefore, entry.created < lateBefore { late += 1 }
        }
    }

    @discardableResult
    private mutating func look<Found>(_ body: () throws(FileError) -> Found) -> Found? {
        do throws(FileError) { return try body() } catch {
            note(error)
            return nil
        }
    }

    private mutating func note(_ error: FileError?) { problem = problem ?? error?.description }
}

extension RunSnapshot.Pending {
    fileprivate mutating func add(_ size: ByteCount, created: Timestamp) {
        segments += 1
        bytes += size
        oldest = min(oldest ?? created, created)
    }
}

/// When the segments of a spool were opened that came last.
struct ArrivalTimes {
    /// Ascending.
    let sorted: [Timestamp]

    /// - Parameter note: Called with each folder that cannot be read.
    init(of spool: Spool, with listing: SpoolListing, note: (FileError) -> Void) {
        var times = listing.entries.map(\.created)
        // The last two days with deliveries show how often something comes.
        for day in spool.sentDays(note: note).suffix(2) {
            for name in (try? day.names()) ?? [] { if let segment = SegmentName(name) { times.append(segment.created) } }
        }
        sorted = times.sorted()
    }

    var last: Timestamp? { sorted.last }
}

extension DueTime {
    /// `nil` when the machine does not know the zone.
    init?(_ mark: UploaderMark.Deadline) {
        guard let time = DayTime(parsing: mark.time), let zone = try? Zone(named: mark.timezone) else { return nil }
        self.init(time: time, zone: zone)
    }
}
