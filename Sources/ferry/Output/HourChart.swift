import FerryReplay
import FerrySpool
import FerryUpload

/// How many events of each hour would be sent: a small chart.
struct HourChart {
    let isJSON: Bool
    /// The field that events must have the time in; `nil`: none need have one.
    let timeField: String?

    func print(_ replay: Replay, _ progress: Progress) throws {
        let (hours, report) = try replay.dryRun { progress.show($0) }
        progress.end()
        if isJSON {
            struct Line: Encodable {
                let hour: Timestamp
                let events: Int64
            }
            for (hour, events) in hours { try StandardOutput.print(Line(hour: hour, events: events).jsonLine()) }
            struct Total: Encodable {
                let sources: Int
                let events: Int64
                let leftOut: Int64
                let unreadable: Int64
            }
            try StandardOutput.print(
                Total(
                    sources: report.sourcesDone, events: report.sentEvents, leftOut: report.leftOut,
                    unreadable: report.unreadable
                ).jsonLine())
        } else {
            let most = max(1, hours.map(\.events).max() ?? 1)
            let width = "\(most)".count
            for (hour, events) in hours {
                let bar = String(repeating: "#", count: max(1, Int(Double(events) / Double(most) * 40)))
                let number = String(repeating: " ", count: width - "\(events)".count) + "\(events)"
                try StandardOutput.print("\(hour.rfc3339.prefix(13)):00Z  \(number)  \(bar)")
            }
            try StandardOutput.print(
                "\(counted(report.sentEvents, "event")) of \(counted(report.sourcesDone, "source")) would be sent, \(report.leftOut) left out"
            )
        }
        let log = Log(isQuiet: false)
        if report.sources == 0 { log.warn(ReplaySummary.nothingFound) }
        for (path, reason) in report.damaged { log.error("\(path): \(reason)") }
        if report.unreadable > 0 {
            let time = timeField.map { ", or has no time in '\($0)'" } ?? ""
            log.error("\(counted(report.unreadable, "line")) that cannot be read\(time), would not be sent")
        }
        try StandardOutput.flush()
        if !report.damaged.isEmpty || report.unreadable > 0 { throw ExitStatus.badData.code }
    }
}
