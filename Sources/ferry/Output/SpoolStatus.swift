import FerrySpool
import FerryUpload
import Glibc

/// What `ferry status` tells: gathered from the folder, nothing else.
struct SpoolStatus: Encodable {
    struct Amount: Encodable {
        var segments: Int64
        var bytes: Int64
    }

    struct PriorityLine: Encodable {
        let priority: UInt8
        var segments: Int64 = 0
        var bytes: Int64 = 0
        /// `nil` when the spool is so full that looking into every segment would take too long, or when a writer noted none.
        var events: Int64?
        var oldest: Timestamp
    }

    struct Waiting: Encodable {
        let segment: String
        let until: Timestamp?
        let retry: RetryState
    }

    struct Destination: Encodable {
        let destination: String
        let state: RetryState
    }

    struct Rejected: Encodable {
        let segment: String
        let bytes: Int64
        let reason: RejectionReason?
    }

    struct Deadline: Encodable {
        /// As in `04:00 in America/Sao_Paulo`.
        let rule: String
        /// The next one, and what must arrive by it.
        let next: Timestamp
        var due = Amount(segments: 0, bytes: 0)
        /// The one after it, and what is not due before.
        let following: Timestamp
        var dueLater = Amount(segments: 0, bytes: 0)
        /// What missed its own.
        var late = Amount(segments: 0, bytes: 0)
    }

    struct Travelling: Encodable {
        let bundle: String
        let since: Timestamp
        let segments: Int
        /// The bundle is still being written.
        let underWay: Bool
    }

    struct Uploader: Encodable {
        let process: Int32
        let startedAt: Timestamp
        let destination: String
        /// It sends only when it is asked.
        let byHand: Bool?
    }

    /// What a person said may be stored.
    struct Limits: Encodable {
        let maxBytes: Int64?
        let maxAgeMs: Int64?
        let setBy: String
        let setAt: Timestamp
    }

    let spool: String
    let at: Timestamp
    /// `ferry run`, while it runs.
    var uploader: Uploader?
    var paused = false
    var disabled = false
    /// Why nothing is sent now.
    var standstill: Standstill?
    /// `nil`: none was set, and each program has its own.
    var limits: Limits?
    var deadline: Deadline?
    var pending = Amount(segments: 0, bytes: 0)
    var priorities: [PriorityLine] = []
    /// Journals that a process is writing.
    var openJournals = 0
    /// Hidden files of journals and arrivals that no process of this machine holds: the next who writes or sends finishes them.
    var unfinished: [String] = []
    var unusableNames = 0
    /// Files that are sent as other tools' though their names are nearly Ferry's.
    var flawedNames = FlawedNames()
    /// Files that are no segments, and the names of the first of them.
    var others = OtherFiles()
    /// How many files and folders cannot be read.
    var unreadable = 0
    /// Why, for the first of them.
    var problems: [String] = []
    var waiting: [Waiting] = []
    var destinations: [Destination] = []
    var rejected: [Rejected] = []
    /// What went out by hand, and whose receipt has not come.
    var travelling: [Travelling] = []
    /// From the ledger, by outcome.
    var ledger: [String: Amount] = [:]

    /// Above this many pending segments their headers are not read: that would take longer than everything else.
    private static let mostHeadersRead = 20_000
    private static let mostProblems = 100

    /// - Parameter rule: When data must have arrived; `nil`: as the uploader has it that runs, or ran last.
    init(
        _ spool: Spool, now: Timestamp, deadline rule: DueTime?, warn: (UnreadableState) -> Void
    ) throws(FileError) {
        self.spool = spool.path
        at = now
        for failure in [spool.stateFailure, spool.sentFailure] { if let failure { note(failure) } }
        let locks = HeldLocks()
        let control = look { () throws(FileError) in try spool.control(warn: warn) }
        if control?.isUnreadable == true { note(FileError("understand", spool.controlPath, code: EINVAL)) }
        paused = control?.isPaused ?? false
        disabled = control?.isDisabled ?? false
        limits = (look { () throws(FileError) in try spool.settings(warn: warn) } ?? nil).map(Limits.init)
        let known = look { () throws(FileError) in try spool.uploaderMark(locks) } ?? nil
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
        let left = spool.unfinished(listing, locks)
        unfinished = left.journals + left.arrivals
        openJournals = listing.openJournals - left.journals.count
        unusableNames = listing.others.misnamed
        flawedNames = listing.flawedNames()
        others = listing.others
        let unavailable = spool.destinationStates { note($0) }
        destinations = unavailable.map { Destination(destination: $0.id, state: $0.state) }
        standstill = Standstill(
            control: control ?? SpoolControl(), uploader: known.flatMap { $0.isRunning ? $0.mark : nil },
            destinations: unavailable,
            at: now)
        rejected =
            look { () throws(FileError) in try spool.rejected(warn: warn) }?
            .map { Rejected(segment: $0.name, bytes: $0.size.bytes, reason: $0.reason) } ?? []
        travelling =
            look { () throws(FileError) in try spool.travellingBundles(warn: warn) }?
            .map { Travelling(bundle: $0.bundle, since: $0.since, segments: $0.segments, underWay: $0.isUnderWay) } ?? []
        let totals = spool.ledgerTotals { note($0) }
        for outcome in LedgerEntry.Outcome.allCases {
            let count = totals[outcome]
            ledger[outcome.rawValue] = Amount(segments: count.segments, bytes: count.bytes.bytes)
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
                let retry = look({ () throws(FileError) in try spool.sidecar(of: listing.name(of: entry), warn: warn) }) ?? nil
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

    /// As in `10.0 MB, 25 d`.
    fileprivate var text: String {
        let parts = [maxBytes.map { "\(ByteCount($0))" }, maxAgeMs.map { Duration.milliseconds($0).forPeople }].compactMap(\.self)
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}

extension SpoolStatus.Amount {
    fileprivate mutating func add(_ size: ByteCount) {
        segments += 1
        bytes.add(size.bytes)
    }
}

extension DueTime {
    /// `nil` when the machine does not know the zone.
    fileprivate init?(_ mark: UploaderMark.Deadline) {
        guard let time = DayTime(parsing: mark.time), let zone = try? Zone(named: mark.timezone) else { return nil }
        self.init(time: time, zone: zone)
    }
}

extension SpoolStatus {
    /// Long lists are cut: `ferry list` and `--json` show everything.
    private static let longestList = 20

    /// For people.
    var text: [String] {
        var lines = ["spool \(spool)"]
        if disabled {
            lines.append("disabled: it stores and sends nothing; ferry enable changes that")
        } else if paused {
            lines.append("paused: it sends nothing; ferry resume changes that")
        }
        if let uploader {
            lines.append(
                "ferry run sends to \(uploader.destination), process \(uploader.process), for \((at - uploader.startedAt).forPeople)"
            )
            if uploader.byHand ?? false { lines.append("it sends when it is asked: ferry flush") }
        }
        if let standstill, !paused, !disabled { lines.append(standstill.text) }
        lines.append("")
        if priorities.isEmpty {
            lines.append("nothing is pending")
        } else {
            var table = Table(["PRIORITY", "SEGMENTS", "SIZE", "EVENTS", "OLDEST"], rightAligned: [1, 2, 3, 4])
            for line in priorities {
                table.add([
                    "\(line.priority)", "\(line.segments)", "\(ByteCount(line.bytes))", line.events.map { "\($0)" } ?? "?",
                    (at - line.oldest).forPeople,
                ])
            }
            lines += table.lines
        }
        lines.append("")
        lines.append("pending   \(amount(pending))")
        lines.append("sent      \(amount(ledger["sent"]))")
        lines.append(
            "rejected  \(amount(Amount(segments: Int64(rejected.count), bytes: rejected.reduce(0) { $0.adding($1.bytes) })))")
        lines.append("dropped   \(amount(ledger["expired"])) by age, \(amount(ledger["evicted"])) for room")
        if let deadline {
            for (amount, moment) in [(deadline.due, deadline.next), (deadline.dueLater, deadline.following)] {
                lines.append(
                    "due       \(self.amount(amount)) by \(moment.rfc3339) (\(deadline.rule)), in \((moment - at).forPeople)")
            }
            if deadline.late.segments > 0 { lines.append("late      \(amount(deadline.late))") }
        }
        if let limits { lines.append("limits    \(limits.text), as \(limits.setBy) was told at \(limits.setAt.rfc3339)") }
        if openJournals > 0 { lines.append("writing   \(counted(openJournals, "open journal"))") }
        if !unfinished.isEmpty {
            lines.append(
                "left      \(counted(unfinished.count, "file")) of writers or receivers that died; the next ferry upload finishes them"
            )
        }
        if !others.isEmpty { lines.append("ignored   \(others)") }
        if flawedNames.count > 0 { lines += [""] + flawedNames.lines }
        lines += section("waiting", waiting) { entry in
            let due = standstill?.reason == "off" ? "due at the next start" : "due again"
            let when = entry.until.map { "until \($0.rfc3339) (in \(($0 - at).forPeople))" } ?? due
            return "\(entry.segment)  \(entry.retry.text(when: when))"
        }
        lines += section("destinations", destinations) { entry in
            let wait = entry.state.wait(at: at, longestWait: BackOff.standard.longestWait)
            let when = wait.map { "not before \($0.rfc3339) (in \(($0 - at).forPeople))" } ?? "due"
            return "\(entry.destination)  \(when): \(entry.state.lastError.message)"
        }
        lines += section("travelling by hand", travelling) { entry in
            let end =
                entry.underWay ? "is being written" : "ferry acknowledge takes its receipt, ferry export --forget gives it up"
            return
                "\(counted(entry.segments, "segment")) in bundle \(entry.bundle) since \(entry.since.rfc3339) (\((at - entry.since).forPeople)): \(end)"
        }
        lines += section("rejected", rejected) { entry in
            "\(entry.segment)  \(entry.reason?.message ?? "its reason file is missing")"
        }
        if unreadable > 0 {
            lines += ["", "cannot be read (\(unreadable)):"] + problems.prefix(Self.longestList).map { "  \($0)" }
        }
        return lines
    }

    private func amount(_ amount: Amount?) -> String {
        "\(counted(amount?.segments ?? 0, "segment")), \(ByteCount(amount?.bytes ?? 0))"
    }

    private func section<Entry>(_ title: String, _ entries: [Entry], _ line: (Entry) -> String) -> [String] {
        guard !entries.isEmpty else { return [] }
        let more = entries.count - Self.longestList
        return ["", "\(title):"] + entries.prefix(Self.longestList).map { "  " + line($0) }
            + (more > 0 ? ["  … and \(more) more; --json shows all"] : [])
    }
}

extension RetryState {
    /// What a person is told of a segment that waits.
    ///
    /// - Parameter when: When it is tried again, as in `due again`.
    func text(when: String) -> String {
        guard isInParts, let lines = delivered?.lines else {
            return "\(when), tried \(counted(attempts, "time")): \(lastError.message)"
        }
        return lines > 0 ? "due, its first \(counted(Int(lines), "line")) \(lines == 1 ? "is" : "are") delivered" : "due"
    }
}
