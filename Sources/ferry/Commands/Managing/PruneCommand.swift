import ArgumentParser
import FerrySpool

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Apply limits now: to pending segments, and to those kept in sent/.",
        discussion: """
            Each pending segment that is dropped has a line in the ledger. Limits on sent/ delete only what was delivered.

            Example: ferry prune --max-spool-bytes 10GB --max-sent-age 7d
            """)

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption
    @OptionGroup var retention: RetentionOptions

    @Option(help: ArgumentHelp("Delete the oldest delivered segments while sent/ is larger than this.", valueName: "size"))
    var maxSentBytes: ByteCount?

    @Option(help: ArgumentHelp("Delete delivered segments of days that are older than this.", valueName: "duration"))
    var maxSentAge: Duration?

    func validate() throws {
        guard !retention.limits.isUnlimited || maxSentBytes != nil || maxSentAge != nil else {
            throw ValidationError("name at least one limit: --max-spool-bytes, --max-spool-age, --max-sent-bytes, --max-sent-age")
        }
    }

    func run() throws {
        let spool = try spoolOptions.open(.write)
        let log = spoolOptions.log
        let report: RetentionReport
        do throws(FileError) {
            report = try spool.retention.apply(retention.limits) { log.warn("\($0)") }
        } catch {
            throw CommandError(error)
        }
        let pruning = spool.sent.prune(RetentionLimits(maxBytes: maxSentBytes, maxAge: maxSentAge), now: .now())
        let sent = pruning.deleted
        let problems = report.problems + pruning.problems
        for problem in problems { log.warn("\(problem)") }
        if report.isClockSettling || pruning.isClockSettling { log.warn(ClockJumpDetector.settling) }
        if report.stillOver > .zero {
            let reason =
                report.problems.isEmpty
                ? "the segments that could go are just being sent or written"
                : "some of the segments that could go cannot be used"
            log.warn("\(report.stillOver) over the limit remain: \(reason)")
        }
        if output.json {
            struct Report: Encodable {
                let expired: Int64
                let expiredBytes: Int64
                let evicted: Int64
                let evictedBytes: Int64
                let sentDeleted: Int64
                let sentDeletedBytes: Int64
            }
            try StandardOutput.print(
                Report(
                    expired: report.expired.segments, expiredBytes: report.expired.bytes.bytes,
                    evicted: report.evicted.segments, evictedBytes: report.evicted.bytes.bytes, sentDeleted: sent.segments,
                    sentDeletedBytes: sent.bytes.bytes
                ).jsonLine())
        } else if !spoolOptions.quiet {
            try StandardOutput.print("expired \(counted(report.expired.segments, "segment")) (\(report.expired.bytes))")
            try StandardOutput.print("evicted \(counted(report.evicted.segments, "segment")) (\(report.evicted.bytes))")
            try StandardOutput.print("deleted \(counted(sent.segments, "delivered segment")) (\(sent.bytes))")
        }
        try StandardOutput.flush()
        if let status = ExitStatus(problems) { throw status.code }
    }
}
