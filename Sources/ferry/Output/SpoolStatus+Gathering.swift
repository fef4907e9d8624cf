import FerrySpool
import FerryUpload
import Glibc

extension SpoolStatus {
    /// Above this many pending segments their headers are not read: that would take longer than everything else.
    private static let mostHeadersRead = 20_000
    private static let mostProblems = 100

    /// - Parameter rule: When data must have arrived; `nil`: as the uploader has it that runs, or ran last.
    init(
        _ spool: Spool, named path: String, lane: LaneName? = nil, now: Timestamp, deadline rule: DueTime?,
        warn: (UnreadableState) -> Void
    ) throws(FileError) {
        self.spool = spool.path
        destination = spool.laneName?.text
        at = now
        var facts = SpoolFacts(path, lane: lane)
        facts.registration = lane == nil ? Registrations(of: [path])[path] : nil
        machine = facts.registration?.name
        for failure in [spool.stateFailure, spool.sentFailure] { if let failure { note(failure) } }
        let locks = HeldLocks()
        let control = look { () throws(FileError) in try spool.control.read(warn: warn) }
        if control?.isUnreadable == true { note(FileError("understand", spool.control.path, code: EINVAL)) }
        paused = control?.isPaused ?? false
        disabled = control?.isDisabled ?? false
        limits = (look { () throws(FileError) in try spool.settings.read(warn: warn) } ?? nil).map(Limits.init)
        let known = look { () throws(FileError) in try spool.uploaderMark.read(locks) } ?? nil
        if let known, known.isRunning {
            uploader = Uploader(
                process: known.mark.process, startedAt: known.mark.startedAt, destination: known.mark.destination,
                byHand: known.mark.byHand)
        }
        let rule = rule ?? known?.mark.deadline.flatMap { DueTime($0) }
        let standing = rule?.standing(at: now)
        if let rule, let standing {
            deadline = Deadline(
                rule: "\(rule.time) in \(rule.zone.name)", next: standing.next, following: rule.standing(at: standing.next).next)
        }
        let listing = try spool.scan(sizes: true)
        for problem in listing.problems { note(problem) }
        addPending(listing, spool, standing, warn: warn)
        let left = spool.housekeeping.unfinished(listing, locks)
        unfinished = left.journals + left.arrivals
        openJournals = listing.openJournals - left.journals.count
        unusableNames = listing.others.misnamed
        flawedNames = listing.flawedNames()
        others = listing.others
        let unavailable = spool.failingDestinations { note($0) }
        destinations = unavailable.map { Destination(destination: $0.state.destination ?? $0.id, state: $0.state) }
        standstill = Standstill(
            control: control ?? SpoolControl(), uploader: known.flatMap { $0.isRunning ? $0.mark : nil },
            destinations: unavailable, lane: spool.laneName, at: now)
        facts.control = control ?? SpoolControl()
        facts.uploader = known.flatMap { $0.isRunning ? $0.mark : nil }
        facts.standstill = standstill
        facts.failure = Standstill.failure(of: unavailable, for: facts.uploader)
        let times = ArrivalTimes(of: spool, with: listing) { _ in }
        facts.look(at: times, of: spool, now)
        if lane == nil, let found = look({ () throws(FileError) in try spool.received.latestSenders() }) { add(found) }
        rejected =
            look { () throws(FileError) in try spool.rejected.segments(warn: warn) }?
            .map { Rejected(segment: $0.name, bytes: $0.size.bytes, reason: $0.reason) } ?? []
        facts.travelling = look { () throws(FileError) in try spool.exports.travellingBundles(warn: warn) } ?? []
        travelling = facts.travelling
            .map { Travelling(bundle: $0.bundle, since: $0.since, segments: $0.segments, underWay: $0.isUnderWay) }
        lastDelivery = (look { () throws(FileError) in try spool.ledger.lastDelivery() } ?? nil)
            .map { Delivery(at: $0.at, destination: $0.destination) }
        let kept = spool.sent.kept { note($0) }
        if kept.segments > 0 {
            self.kept = Kept(
                amount: Amount(segments: kept.segments, bytes: kept.bytes.bytes), since: kept.firstDay, isMore: kept.isMore)
        }
        addLanes(spool, path, rule, warn: warn)
        let totals = spool.ledger.totals { note($0) }
        for outcome in LedgerEntry.Outcome.allCases {
            let count = totals[outcome]
            ledger[outcome.rawValue] = Amount(segments: count.segments, bytes: count.bytes.bytes)
        }
        facts.pending = pending.segments
        facts.oldest = priorities.map(\.oldest).min()
        facts.late = deadline?.late.segments ?? 0
        facts.rejected = Int64(rejected.count)
        facts.rejection = rejected.compactMap(\.reason).min { $0.at < $1.at }
        facts.others = others
        facts.problem = problems.first
        let ofLanes = lanes.flatMap(\.conditions)
        conditions = SpoolCondition.all(of: facts, at: now).filter { ofLanes.isEmpty || $0.kind != .ok } + ofLanes
        conditions.sort()
    }

    private mutating func add(_ latest: LatestSenders) {
        sendersSince = latest.since
        senders = latest.all.map { sender in
            Sender(
                spool: sender.id, segments: sender.segments, bytes: sender.bytes.bytes, last: sender.last ?? at,
                inBundle: sender.cameInBundle, isSilent: sender.isSilent(at: at))
        }
    }

    private mutating func addLanes(_ spool: Spool, _ named: String, _ rule: DueTime?, warn: (UnreadableState) -> Void) {
        for name in look({ () throws(FileError) in try spool.lanes.names() }) ?? [] {
            let (path, at) = (spool.lanes.path(of: name), at)
            guard
                let lane = look({ () throws(FileError) in
                    try SpoolStatus(
                        Spool.open(path, access: .read), named: named, lane: name, now: at, deadline: rule, warn: warn)
                })
            else { continue }
            let none = Amount(segments: 0, bytes: 0)
            let dropped = ["expired", "evicted"].reduce(0 as Int64) { $0.adding(lane.ledger[$1]?.segments ?? 0) }
            lanes.append(
                Lane(
                    name: name.text, pending: lane.pending, oldest: lane.priorities.map(\.oldest).min(),
                    sent: lane.ledger["sent"] ?? none, rejected: lane.rejected.count, dropped: dropped,
                    standstill: lane.standstill, unreadable: lane.unreadable,
                    conditions: lane.conditions.compactMap { condition in
                        // What is told of the spool is told of all its destinations.
                        if condition.kind == .ok || condition.kind == .paused && paused || condition.kind == .disabled && disabled
                        {
                            return nil
                        }
                        var condition = condition
                        condition.place = name
                        return condition
                    }))
            unreadable += lane.unreadable
            problems += lane.problems.prefix(Self.mostProblems - min(problems.count, Self.mostProblems))
        }
    }

    private mutating func addPending(
        _ listing: SpoolListing, _ spool: Spool, _ standing: DueTime.Standing?, warn: (UnreadableState) -> Void
    ) {
        let readsHeaders = listing.entries.count <= Self.mostHeadersRead
        for entry in listing.entries {
            if priorities.last?.priority != entry.priority.level {
                priorities.append(
                    PriorityLine(priority: entry.priority.level, events: readsHeaders ? 0 : nil, oldest: entry.created))
            }
            let last = priorities.count - 1
            priorities[last].segments += 1
            priorities[last].bytes.add(entry.size?.bytes ?? 0)
            if let standing { deadline?.add(entry.size ?? .zero, created: entry.created, standing) }
            if readsHeaders {
                let events = look { () throws(FileError) in try spool.notedEvents(of: listing.name(of: entry)) } ?? nil
                priorities[last].events = priorities[last].events.flatMap { sum in events.map(sum.adding) }
            }
            if entry.hasSidecar,
                let retry = look({ () throws(FileError) in try spool.sidecars.read(of: listing.name(of: entry), warn: warn) })
                    ?? nil
            {
                waiting.append(
                    Waiting(
                        segment: listing.name(of: entry), until: retry.wait(at: at, longestWait: BackOff.standard.longestWait),
                        retry: retry))
            }
        }
        pending = Amount(segments: Int64(listing.entries.count), bytes: listing.segmentBytes.bytes)
    }

    /// Looks at one thing. When it cannot be read, that is noted, and everything else is shown.
    private mutating func look<Found>(_ body: () throws(FileError) -> Found) -> Found? {
        do throws(FileError) {
            return try body()
        } catch {
            note(error)
            return nil
        }
    }

    private mutating func note(_ error: FileError) {
        unreadable += 1
        if problems.count < Self.mostProblems { problems.append(error.description) }
    }
}

extension SpoolStatus.Deadline {
    fileprivate mutating func add(_ size: ByteCount, created: Timestamp, _ standing: DueTime.Standing) {
        if created < standing.lateBefore {
            late.add(size)
        } else if created < standing.dueBefore {
            due.add(size)
        } else {
            dueLater.add(size)
        }
    }
}

extension SpoolStatus.Limits {
    fileprivate init(_ settings: SpoolSettings) {
        maxBytes = settings.retention.maxBytes?.bytes
        maxAgeMs = settings.retention.maxAge?.wholeMilliseconds
        setBy = settings.setBy
        setAt = settings.setAt
    }
}

extension SpoolStatus.Amount {
    fileprivate mutating func add(_ size: ByteCount) {
        segments += 1
        bytes.add(size.bytes)
    }
}
