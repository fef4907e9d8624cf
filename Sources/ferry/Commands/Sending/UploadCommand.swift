import ArgumentParser
import FerrySpool
import FerryUpload
import FoundationEssentials
import NIOCore

struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Send everything that is due, then exit.",
        discussion: """
            Segments leave by priority, then time. What fails is kept with its retry state; a later call, from cron or by hand, \
            goes on. Proxies come from HTTP_PROXY, HTTPS_PROXY and NO_PROXY.

            With --quiet it says nothing of what a later call mends (75), so that cron mails only what a person must mend.

            Example: ferry upload --spool /var/spool/ferry --to https://hub.example/v1/segments --token-file /etc/ferry/token

            Every five minutes, in a file of /etc/cron.d: */5 * * * * ferry /usr/bin/ferry upload --quiet --spool /var/spool/ferry --to \
            https://hub.example/v1/segments --token-file /etc/ferry/token

            Exit status: 0 nothing left that is due, 75 some remain and will be retried, 77 the destination is misconfigured, \
            65 some were rejected, 73 the disk is full, 74 something could not be read or written, 130 interrupted.
            """)

    @Argument(help: SpoolOptions.severalHelp)
    var spools: [String] = []

    @OptionGroup var destination: DestinationOptions
    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(help: "Requests at once, each on its own connection.")
    var parallel = 3

    @Option(
        help:
            "priority: others pass a segment that waits; live: what is younger than five minutes goes before the backlog, which gets every fifth turn; strict: what waits blocks those behind it, and requests go one at a time."
    )
    var order = SendOrder.priority

    @OptionGroup var timeLimit: TimeLimitOptions

    @OptionGroup var pace: PaceOptions

    @Option(
        help: ArgumentHelp(
            "Send at most this many segments; what went out together in a request that was interrupted goes out again whole.",
            valueName: "n"))
    var limit: Int?

    @Flag(help: "Try everything now, without waiting for any back-off.")
    var retryNow = false

    @Flag(help: "Print what would be sent, in order, and send nothing. What would not, and why, goes to standard error.")
    var dryRun = false

    @Option(help: "How closely segments are checked before they are sent: auto, always, never.")
    var verify = Verification.auto

    @Option(
        help: ArgumentHelp(
            """
            Split a segment whose body broke off twice on its way, for links that last only seconds: on (not if a try may have \
            arrived whole), off, always (even then: its events may arrive twice).
            """,
            valueName: "on|off|always"))
    var splitBroken = SplitPolicy.on

    @Option(help: ArgumentHelp("Reject what inflates to more than this.", valueName: "size"))
    var inflateLimit = ByteCount.mebibytes(1024)

    @OptionGroup var sent: SentOptions
    @OptionGroup var retention: RetentionOptions

    func validate() throws {
        guard destination.several.isEmpty || spoolOptions.lane == nil else {
            throw ValidationError("--destination sends what waits for one of several: --to is its URL alone, without a name")
        }
        guard !destination.to.isEmpty else { throw ValidationError("Missing expected argument '--to <url>'") }
        guard pace.coalesce.map({ $0 == .off }) ?? true || destination.body.body == .ndjson else {
            throw ValidationError(
                "--coalesce joins segments as they are; it does not go with --body \(destination.body.body.rawValue)")
        }
        try SettingCheck.require("\(parallel)", as: "parallel", by: "--parallel")
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    /// The settings that the command's options say.
    ///
    /// - Parameter url: One of several destinations; `nil`: the only one.
    func settings(to url: String? = nil) throws -> UploadSettings {
        var settings = try destination.settings(to: url)
        settings.parallel = parallel
        settings.order = order
        timeLimit.apply(to: &settings, spoolOptions.log)
        try pace.apply(to: &settings)
        settings.limit = limit
        settings.ignoresWaits = retryNow
        settings.verification = verify
        settings.splitBroken = splitBroken
        settings.inflateLimit = inflateLimit
        sent.apply(to: &settings)
        settings.retention = retention.limits
        return settings
    }

    func run() async throws {
        let progress = Progress(isShown: !spoolOptions.quiet && !output.json && !dryRun, log: spoolOptions.log)
        defer { progress.end() }
        var ahead = progress.isShown ? try spoolOptions.pendingAhead(spools) : [:]
        try await spoolOptions.forEach(spools) { options in
            ahead[options.path] = nil
            try await send(options, progress, ahead: ahead.values.reduce(.init(), +))
        }
    }

    /// - Parameter ahead: What is pending in the spools that come after this one.
    private func send(_ spoolOptions: SpoolOptions, _ progress: Progress, ahead: ProgressLine.Amount) async throws {
        let environment = ProcessInfo.processInfo.environment
        let isLane = spoolOptions.lane != nil || (try? Spool.open(spoolOptions.path, access: .read).isLane) ?? false
        let several = destination.several
        guard !isLane || several.count < 2 else {
            throw ValidationError("\(spoolOptions.path) waits for one destination: give it one --to")
        }
        if !several.isEmpty, !isLane { return try await sendToSeveral(spoolOptions, environment, progress) }
        let options = try settings(to: several.first?.url).options(environment: environment)
        if dryRun {
            return try DryRunOutput(isJSON: output.json, log: spoolOptions.log).print(try spoolOptions.openForReading(), options)
        }

        try await options.requireCredentials()
        try DescriptorLimit.require(eventLoops: System.coreCount, uploads: parallel)
        let (spool, unfinished) = try spoolOptions.openRecovered(.write)
        progress.goOn(with: spool, ahead: ahead)
        let pass: UploadPass
        do throws(UploadError) {
            pass = try UploadPass(spool, options: options, unfinished: unfinished, onEvent: { progress.show($0) })
        } catch {
            throw error.commandFailure
        }
        let report: UploadReport
        do {
            report = try await Interruptible.run {
                try await pass.run()
            } stop: {
                pass.stop()
            }
        } catch let error as UploadError {
            throw error.commandFailure
        }
        warnOfLanes(spool)
        let summary = UploadSummary(report: report, destination: options.destination, now: .now(), name: spoolOptions.lane)
        if output.json {
            try StandardOutput.print(summary.json())
        } else if !spoolOptions.quiet {
            try summary.text.forEach(StandardOutput.print)
        } else {
            for fault in summary.faults { spoolOptions.log.warn(fault) }
        }
        try StandardOutput.flush()
        if let problem = summary.problem(isQuiet: spoolOptions.quiet) { spoolOptions.log.error(problem) }
        if summary.status != .done { throw summary.status.code }
    }
}

extension UploadCommand {
    private func sendToSeveral(
        _ spoolOptions: SpoolOptions, _ environment: [String: String], _ progress: Progress
    ) async throws {
        let common = try settings(to: destination.several[0].url)
        var routing = UploadSettings(routingTo: destination.several.map { Lane($0.name) })
        (routing.order, routing.verification, routing.inflateLimit) = (order, verify, inflateLimit)
        (routing.retention, routing.timeLimit) = (common.retention, common.timeLimit)
        let uploads = LaneUploads(
            routing: try routing.options(environment: environment),
            destinations: try destination.several.map { one in
                (Lane(one.name), try settings(to: one.url).options(environment: environment))
            }, isJSON: output.json, isQuiet: spoolOptions.quiet, progress: progress, log: spoolOptions.log)
        if dryRun { return try uploads.printDue(in: try spoolOptions.openForReading()) }
        for destination in uploads.destinations { try await destination.options.requireCredentials() }
        try DescriptorLimit.require(eventLoops: System.coreCount, uploads: parallel * destination.several.count)
        let (spool, unfinished) = try spoolOptions.openRecovered(.write)
        let status = try await uploads.run(spool, unfinished)
        if status != .done { throw status.code }
    }

    /// Tells of lanes that this call does not send from.
    private func warnOfLanes(_ spool: Spool) {
        for name in (try? spool.lanes.names()) ?? [] {
            guard let lane = try? Spool.open(spool.lanes.path(of: name), access: .read),
                let count = try? lane.scan().entries.count, count > 0
            else { continue }
            spoolOptions.log.warn(
                "\(counted(count, "segment")) in the lane to/\(name) wait for the destination of that name: --to \(name)=URL beside the others, or --destination \(name) --to URL, sends them"
            )
        }
    }
}

extension UploadError {
    var commandFailure: CommandError {
        switch self {
        case .file(let error): CommandError(error)
        case .transport: CommandError(.badConfiguration, description)
        }
    }
}
