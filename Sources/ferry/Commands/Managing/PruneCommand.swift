import ArgumentParser
import FerrySpool
import Glibc

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Apply limits now: to pending segments, and to those kept in sent/.",
        discussion: """
            Each pending segment that is dropped has a line in the ledger. Limits on sent/ delete only what was delivered. Of a spool with \
            several destinations the limits hold for each of them by itself, or with --destination for that one alone.

            Example: ferry prune --max-spool-bytes 10GB --max-sent-age 7d

            What it would do: ferry prune --max-spool-age 30d --dry-run
            """)

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption
    @OptionGroup var retention: RetentionOptions

    @Option(help: ArgumentHelp("Delete the oldest delivered segments while sent/ is larger than this.", valueName: "size"))
    var maxSentBytes: ByteCount?

    @Option(help: ArgumentHelp("Delete delivered segments of days that are older than this.", valueName: "duration"))
    var maxSentAge: Duration?

    @Flag(help: "Print what would be deleted, and why, and delete nothing.")
    var dryRun = false

    func validate() throws {
        guard !retention.limits.isUnlimited || maxSentBytes != nil || maxSentAge != nil else {
            throw ValidationError("name at least one limit: --max-spool-bytes, --max-spool-age, --max-sent-bytes, --max-sent-age")
        }
    }

    func run() throws {
        let progress = Progress(isShown: !spoolOptions.quiet && !output.json, log: spoolOptions.log)
        defer { progress.end() }
        try spoolOptions.forEach(spools) { options, prefix in
            if dryRun { try forecast(options, prefix) } else { try prune(options, prefix, progress) }
        }
    }

    private var sentLimits: RetentionLimits { RetentionLimits(maxBytes: maxSentBytes, maxAge: maxSentAge) }

    private func forecast(_ spoolOptions: SpoolOptions, _ prefix: String) throws {
        let spool = try spoolOptions.openForReading()
        var problems: [FileError] = []
        func print(_ spool: Spool, _ name: LaneName?) throws {
            let forecast: PruneForecast
            do throws(FileError) { forecast = try PruneForecast(spool, name, retention.limits, sent: sentLimits) } catch {
                throw CommandError(error)
            }
            try forecast.print(of: spoolOptions.spoolPath, prefix, isJSON: output.json, spoolOptions.log)
            problems += forecast.problems
        }
        try print(spool, nil)
        for name in try lanes(of: spool) {
            let lane: Spool
            do throws(FileError) { lane = try Spool.open(spool.lanes.path(of: name), access: .read) } catch {
                throw CommandError(error)
            }
            try print(lane, name)
        }
        try StandardOutput.flush()
        if let status = ExitStatus(problems) { throw status.code }
    }

    private func prune(_ spoolOptions: SpoolOptions, _ prefix: String, _ progress: Progress) throws {
        let spool = try spoolOptions.open(.write)
        var done: [Pruned] = []
        do throws(FileError) { done.append(try prune(spool, nil, progress)) } catch { throw CommandError(error) }
        // Without a name all destinations are meant, each with these limits, as those of an upload.
        for name in try lanes(of: spool) {
            do throws(FileError) {
                let lane = try Spool.open(spool.lanes.path(of: name), access: .write)
                for problem in try lane.housekeeping.recover().problems { spoolOptions.log.warn("\(name): \(problem)") }
                done.append(try prune(lane, name, progress))
            } catch {
                done.append(Pruned(name: name, problems: [error]))
            }
        }
        for name in (try? spool.lanes.emptyPlaces()) ?? [] {
            done.append(
                Pruned(name: name, problems: [FileError("find the lane in", spool.lanes.path(of: name), code: ENOMEDIUM)]))
        }
        progress.pause()
        for one in done { for problem in one.problems { spoolOptions.log.warn("\(prefix)\(one.prefix)\(problem)") } }
        if output.json {
            try StandardOutput.print(PruneReport(spool.path, done).jsonLine())
        } else if !spoolOptions.quiet {
            for one in done {
                for (what, count, noun) in [
                    ("expired", one.report.expired, "segment"), ("evicted", one.report.evicted, "segment"),
                    ("deleted", one.sent, "delivered segment"),
                ] { try StandardOutput.print("\(prefix)\(one.prefix)\(what) \(counted(count.segments, noun)) (\(count.bytes))") }
            }
        }
        try StandardOutput.flush()
        if let status = ExitStatus(done.flatMap(\.problems)) { throw status.code }
    }

    private func lanes(of spool: Spool) throws -> [LaneName] {
        do throws(FileError) { return try spool.lanes.names() } catch { throw CommandError(error) }
    }

    private func prune(_ spool: Spool, _ name: LaneName?, _ progress: Progress) throws(FileError) -> Pruned {
        let log = spoolOptions.log
        var done = Pruned(name: name)
        done.report = try spool.retention.apply(retention.limits, onProgress: progress.show) { log.warn("\(done.prefix)\($0)") }
        let pruning = spool.sent.prune(sentLimits, now: .now(), onProgress: progress.show)
        done.sent = pruning.deleted
        done.problems = done.report.problems + pruning.problems
        // A later call mends these two.
        if done.report.isClockSettling || pruning.isClockSettling { log.note("\(done.prefix)\(ClockJumpDetector.settling)") }
        if done.report.stillOver > .zero {
            let over = "\(done.prefix)\(done.report.stillOver) over the limit remain"
            if done.report.problems.isEmpty {
                log.note("\(over): the segments that could go are just being sent or written")
            } else {
                log.warn("\(over): some of the segments that could go cannot be used")
            }
        }
        return done
    }
}
