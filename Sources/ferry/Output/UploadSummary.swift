import FerrySpool
import FerryUpload

/// What an upload says at its end, and what it exits with.
struct UploadSummary {
    let report: UploadReport
    let destination: Destination
    let now: Timestamp
    /// The destination among several.
    var name: LaneName?

    var status: ExitStatus {
        switch report.stopReason {
        case .misconfigured: return .misconfigured
        case .off: return .remaining
        case .interrupted: return .interrupted
        case .localFailure: return .localFailure
        case .unavailable, .headWaits, .timeLimit, .paused, nil: break
        }
        if report.control.isUnreadable { return .localFailure }
        if let failure = ExitStatus(localFailures) { return failure }
        if report.remaining > 0 { return .remaining }
        return report.rejected > 0 ? .badData : .done
    }

    private var localFailures: [FileError] {
        report.unfinished.map(\.error) + report.unusableReasons + report.retention.problems
    }

    /// Returns what a person must mend, or should know of.
    ///
    /// - Parameter isQuiet: Whether only what a person must mend counts, and not what a later call mends: a network that is away.
    func problem(isQuiet: Bool) -> String? { isQuiet && status == .remaining ? nil : problem }

    private var problem: String? {
        switch report.stopReason {
        case .misconfigured(let reason): "\(destination): \(reason.message). Everything is kept; nothing more was tried"
        case .unavailable(let reason, _): "\(destination): \(reason.message). Everything is kept, \(nextTry)"
        case .off(let reason): "\(destination): \(reason.message). All retries failed; this process sends nothing more"
        case .headWaits: "the first segment in line must wait, and with --order strict all others wait behind it"
        case .timeLimit: "the time does not suffice for more; what is left is kept"
        case .interrupted, .localFailure: nil
        case .paused where report.control.isUnreadable, nil where report.control.isUnreadable:
            "what the spool was told cannot be read, and may have been to pause: nothing is sent; ferry resume\(option), or pause or disable, tells it anew"
        case .paused where report.control.isDisabled, nil where report.control.isDisabled:
            "the spool is disabled: nothing is sent; ferry enable\(option) changes that"
        case .paused where report.control.isPaused, nil where report.control.isPaused:
            "the spool is paused: nothing is sent; ferry resume\(option) changes that"
        case .paused: "the spool was paused for a moment; call again"
        case nil where report.heldLate > 0 && report.heldLate == report.remaining: nil
        case nil: report.destinationWaitsUntil.map { _ in "\(destination) failed before: \(nextTry)" }
        }
    }

    /// What a person must mend, and is told of with the results alone: where those are not shown, it is told all the same.
    var faults: [String] { limitProblems + (report.others.isEmpty ? [] : ["ignored \(report.others)"]) }

    private var limitProblems: [String] {
        report.retention.problems.prefix(3).map { "the limits are kept as far as that goes: \($0)" }
    }

    /// What commands need that are to look at the destination's lane.
    private var option: String { name.laneOption }

    private var nextTry: String {
        guard let until = report.destinationWaitsUntil else { return "the next call tries again" }
        return "not to be tried before \(until.rfc3339) (in \(until.wait(at: now))); --retry-now tries now"
    }

    /// Whether segments remain that failed, and only wait for their time: everything else that was due was tried.
    private var hasSegmentsThatWait: Bool {
        report.stopReason == nil && !report.control.isPaused && !report.control.isDisabled && !report.control.isUnreadable
            && report.destinationWaitsUntil == nil && report.remaining > report.incomplete + report.heldLate
    }

    var text: [String] {
        var lines: [String] = []
        for (count, what) in [
            (report.retention.expired, "expired by age"), (report.retention.evicted, "evicted for room"),
        ] where count.segments > 0 {
            lines.append("dropped \(counted(count.segments, "segment")) (\(count.bytes)), \(what)")
        }
        if report.retention.isClockSettling { lines.append(ClockJumpDetector.settling) }
        let events = report.sentEvents > 0 ? ", \(counted(report.sentEvents, "event"))" : ""
        lines.append("sent \(counted(report.sent.segments, "segment")) (\(report.sent.bytes)\(events)) to \(destination)")
        if report.partEvents > 0 {
            lines.append("sent \(counted(report.partEvents, "event")) of segments that are not sent to their end yet")
        }
        if report.rejectedPartEvents > 0 {
            lines.append("sent \(counted(report.rejectedPartEvents, "event")) of segments that were rejected after that")
        }
        if report.duplicates > 0 {
            lines.append(
                "\(report.duplicates) of them the destination knew already (duplicate) and did not take again; the ledger names them"
            )
        }
        if report.split > 0 { lines.append("split \(report.split) that were too large") }
        if report.rejected > 0 {
            lines.append("rejected \(report.rejected); ferry status\(option) tells why, ferry retry\(option) brings them back")
        }
        if report.sentDeleted.segments > 0 {
            lines.append(
                "deleted \(counted(report.sentDeleted.segments, "delivered segment")) (\(report.sentDeleted.bytes)) from sent/: their time was over, or the disk full"
            )
        }
        if report.unusable > 0 {
            let reasons = report.unusableReasons.prefix(3).map(\.description).joined(separator: "; ")
            lines.append(
                "left \(counted(report.unusable, "segment")) that cannot be used: \(reasons)\(report.unusable > 3 ? "; …" : "")")
        }
        lines += limitProblems
        if report.incomplete > 0 {
            lines.append(
                "held back \(counted(report.incomplete, "file")) that may be still being written: no whole gzip, given up \(ForeignFile.patience.forPeople) after the last change"
            )
        }
        for problem in report.unfinished { lines.append("\(problem)") }
        if !report.others.isEmpty { lines.append("ignored \(report.others)") }
        if report.heldLate > 0 {
            lines.append(
                "held \(counted(report.heldLate, "segment")) that missed the deadline (--late hold); --late send lets them go")
        }
        if report.taken > 0 {
            lines.append("\(report.taken) are pending that another process has just now: it sends, exports or writes them")
        }
        if report.remaining > 0 {
            let hint = hasSegmentsThatWait ? ", --retry-now tries them now" : ""
            lines.append("\(report.remaining) remain; ferry list\(option) tells what they wait for\(hint)")
        }
        for bundle in report.travelling {
            lines.append(
                "\(bundle.segments) travel in bundle \(bundle.bundle) since \(bundle.since.rfc3339); ferry acknowledge\(option) takes its receipt"
            )
        }
        return lines
    }

    func json() throws -> String {
        struct Travelling: Encodable {
            let bundle: String
            let since: Timestamp
            let segments: Int
        }
        struct Summary: Encodable {
            let name: String?
            let destination: String
            let sent: Int64
            let sentBytes: Int64
            let sentEvents: Int64
            /// Delivered events of segments that are not sent to their end yet.
            let partEvents: Int64
            /// Delivered events of segments that were rejected after that.
            let rejectedPartEvents: Int64
            /// How many of those sent the destination knew already.
            let duplicates: Int
            let rejected: Int
            let split: Int
            let expired: Int64
            let evicted: Int64
            let remaining: Int
            /// Pending segments that another process has.
            let taken: Int
            let stopped: String?
            let message: String?
            let destinationWaitsUntil: Timestamp?
            let sentDeleted: Int64
            /// Segments that cannot be opened or locked, and why.
            let unusable: Int
            let unusableReasons: [String]
            /// Pending files that are no whole gzip files, and may become so.
            let incomplete: Int
            /// Pending segments that missed their deadline and are held for it.
            let heldLate: Int
            /// Journals and arrivals that could not be finished, and why.
            let unfinished: [String]
            /// Files that are no segments.
            let others: Int
            let otherNames: [String]
            let travelling: [Travelling]
            /// `no-data`, `sent` or `failed`.
            let result: String
        }
        let result =
            switch FlushResult(report) {
            case .noData: "no-data"
            case .sent: "sent"
            case .failed: "failed"
            }
        return try Summary(
            name: name?.text, destination: "\(destination)", sent: report.sent.segments, sentBytes: report.sent.bytes.bytes,
            sentEvents: report.sentEvents, partEvents: report.partEvents, rejectedPartEvents: report.rejectedPartEvents,
            duplicates: report.duplicates, rejected: report.rejected, split: report.split,
            expired: report.retention.expired.segments, evicted: report.retention.evicted.segments,
            remaining: report.remaining, taken: report.taken, stopped: stopped, message: problem,
            destinationWaitsUntil: report.destinationWaitsUntil, sentDeleted: report.sentDeleted.segments,
            unusable: report.unusable, unusableReasons: report.unusableReasons.map(\.description), incomplete: report.incomplete,
            heldLate: report.heldLate,
            unfinished: report.unfinished.map(\.description), others: report.others.count, otherNames: report.others.names,
            travelling: report.travelling.map { Travelling(bundle: $0.bundle, since: $0.since, segments: $0.segments) },
            result: result
        ).jsonLine()
    }

    private var stopped: String? {
        switch report.stopReason {
        case .misconfigured: "misconfigured"
        case .unavailable: "unwell"
        case .off: "off"
        case .headWaits: "head-waits"
        case .timeLimit: "deadline"
        case .interrupted: "interrupted"
        case .paused: report.control.isDisabled ? "disabled" : "paused"
        case .localFailure: "local-failure"
        case nil where report.control.isDisabled: "disabled"
        case nil where report.control.isPaused: "paused"
        case nil: report.destinationWaitsUntil.map { _ in "waits" }
        }
    }
}
