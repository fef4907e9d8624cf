import FerryReplay
import FerrySpool
import FerryUpload

/// What a replay says at its end.
struct ReplaySummary {
    let report: ReplayReport
    let isJSON: Bool
    let isQuiet: Bool
    let isResumed: Bool
    /// The field that events must have the time in; `nil`: none need have one.
    let timeField: String?
    /// Where its run's folder lies.
    let state: String

    static let nothingFound =
        "no segment was found in the paths that are given and within the options; of a hub's folder give the spools in it (hub/*)"

    func print() throws {
        let log = Log(isQuiet: isQuiet)
        // The same call again goes on with a run that was resumed; of one that has just begun only its ID does.
        let waitsForCall = isQuiet && isResumed
        if report.sources == 0 { log.warn(Self.nothingFound) }
        for (path, reason) in report.damaged { log.error("\(path) is left out: \(reason)") }
        if report.damagedUnnamed > 0 { log.error("\(counted(report.damagedUnnamed, "more file")) left out earlier in this run") }
        for (path, reason) in report.unread { log.error("\(path) could not be read: \(reason)") }
        for (path, reason) in report.grown { log.error("\(path): \(reason)") }
        if report.grownEarlier > 0 {
            log.error("\(counted(report.grownEarlier, "source")) had grown earlier in this run, and taken as it was then")
        }
        for name in report.busy where !waitsForCall {
            log.error("another process has \(name), which this run staged: it does not count as sent")
        }
        switch report.stopReason {
        case .unavailable where waitsForCall, .off where waitsForCall: break
        case .unavailable(let reason, _), .misconfigured(let reason), .off(let reason):
            log.error("the destination: \(reason.message)")
        case .headWaits, .timeLimit, .interrupted, .paused, .localFailure, nil: break
        }
        if isJSON {
            struct Line: Encodable {
                let run: String
                let sources: Int
                let sourcesDone: Int
                let sent: Int64
                let sentBytes: Int64
                let sentEvents: Int64
                let leftOut: Int64
                let unreadable: Int64
                let rejected: Int
                let damaged: Int64
                let unread: Int
                let grown: Int64
                let remaining: Int
                /// Of all processes of the run are `leftOut`, `unreadable`, `rejected`, `damaged` and `grown`; the others of this one.
                let isResumed: Bool
            }
            try StandardOutput.print(
                Line(
                    run: report.run, sources: report.sources, sourcesDone: report.sourcesDone, sent: report.sent,
                    sentBytes: report.sentBytes.bytes, sentEvents: report.sentEvents, leftOut: report.leftOut,
                    unreadable: report.unreadable, rejected: report.rejected, damaged: report.damagedCount,
                    unread: report.unread.count, grown: report.grownCount, remaining: report.remaining, isResumed: isResumed
                ).jsonLine())
        } else if !isQuiet {
            let events = report.sentEvents > 0 ? ", \(counted(report.sentEvents, "event"))" : ""
            let sources =
                report.sourcesDone == report.sources
                ? "of \(counted(report.sources, "source"))"
                : "with \(report.sourcesDone) of \(counted(report.sources, "source")) gone through"
            try StandardOutput.print(
                "replayed \(counted(report.sent, "segment")) (\(report.sentBytes)\(events))\(isResumed ? " in this call," : "") \(sources) as run \(report.run)"
            )
            let whole = isResumed ? " in all of the run" : ""
            if report.leftOut > 0 { try StandardOutput.print("\(counted(report.leftOut, "event")) left out\(whole)") }
            if report.unreadable > 0 {
                let time = timeField.map { ", or had no time in '\($0)'" } ?? ""
                try StandardOutput.print("\(counted(report.unreadable, "line")) could not be read\(time)\(whole)")
            }
            if report.rejected > 0 {
                try StandardOutput.print("\(report.rejected) rejected, kept in \(state)/\(report.run)/rejected")
            }
            if !report.isComplete { try StandardOutput.print("not complete: ferry replay --resume \(report.run) goes on") }
        } else if !report.isComplete, !isResumed {
            log.warn("not complete: ferry replay --resume \(report.run) goes on")
        }
        try StandardOutput.flush()
    }
}
