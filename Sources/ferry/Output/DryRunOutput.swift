import FerrySpool
import FerryUpload

/// Prints what an upload would send, in order. What it would not send, and why, goes to the log.
struct DryRunOutput {
    let isJSON: Bool
    let log: Log
    /// The destination among several, whose segments alone are printed, with its name.
    var lane: Lane?

    func print(_ spool: Spool, _ options: UploadOptions) throws {
        var segments: DueSegments
        do throws(FileError) { segments = try DueSegments(spool, options: options, now: .now()) } catch {
            throw CommandError(error)
        }
        // Said in any case: without it an empty output would look like an empty spool.
        if let standstill = segments.standstill {
            Log(isQuiet: false).note("nothing would be sent now: \(standstill.text)")
        }
        var notSent = NotSentSegments()
        var overLimit = 0
        while let due = segments.next() {
            if let lane, !lane.takes(due.segment.name, of: spool) { continue }
            guard let reason = due.reason else {
                let name = lane.map { "\t\($0.name)" } ?? ""
                try StandardOutput.print(isJSON ? try json(due.segment) : "\(due.segment.name)\t\(due.segment.size)\(name)")
                continue
            }
            guard reason == .overLimit else {
                notSent.add(due.segment.name, reason)
                continue
            }
            let rest = segments.rest()
            for due in rest.dropped { due.reason.map { notSent.add(due.segment.name, $0) } }
            overLimit = rest.others + 1
            break
        }
        try StandardOutput.flush()
        for line in notSent.lines { log.note(line) }
        if overLimit > 0 { log.note("\(counted(overLimit, "segment")) over --limit, not looked at") }
    }

    private func json(_ segment: PendingSegment) throws -> String {
        struct Line: Encodable {
            let segment: String
            let bytes: Int64
            let attempts: Int
            let name: String?
        }
        return try Line(
            segment: segment.name, bytes: segment.size.bytes, attempts: segment.retry?.attempts ?? 0,
            name: lane?.name.text
        ).jsonLine()
    }
}
