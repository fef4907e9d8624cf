import ArgumentParser
import FerryReplay
import FerrySpool
import FerryUpload
import FoundationEssentials

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send archived events again.",
        discussion: """
            Sources are spools (their sent/ is meant), folders, and files *.jsonl.gz, *.jsonl, *.jsonl.zst. They are never changed. \
            Requests carry Ferry-Replay: RUN and keys of their own, so that a receiver takes them.

            A condition compares fields: 'name == "Purchase" && properties.total > 10', with == != < <= > >= contains starts, exists \
            before a field, ! && || and parentheses.

            Example: ferry replay /var/spool/ferry --to https://hub.example/v1/segments --since 2026-11-01T00:00:00Z --time-field time

            Exit status: 0 everything was sent, 75 some remain: ferry replay --resume RUN goes on, 65 some were rejected or unreadable.
            """)

    @Argument(help: ArgumentHelp("What to send again.", valueName: "path"))
    var paths: [String] = []

    @OptionGroup var destination: DestinationOptions
    @OptionGroup var output: JSONOption

    @Option(help: ArgumentHelp("Only events from this moment on (RFC 3339).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only events before this moment.", valueName: "time"))
    var until: String?

    @Option(
        help: ArgumentHelp(
            "Where an event's time stands: RFC 3339, or seconds or milliseconds since 1970. Default: its segment's.",
            valueName: "field"))
    var timeField: String?

    @Option(help: "Only this priority.")
    var priority: Priority?

    @Option(help: "Only this stream.")
    var stream: String?

    @Option(name: .customLong("where"), help: ArgumentHelp("Only events for which this holds.", valueName: "condition"))
    var condition: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Set a field of every event; a value that is no JSON is a string.", valueName: "field=value"))
    var settings: [String] = []

    @Option(
        help: ArgumentHelp(
            "now: the first event happens now, the others as long after it as they did. Needs --time-field.", valueName: "now"))
    var shiftTime: String?

    @Option(
        help: ArgumentHelp("max, or 1x, 10x, 0.5x: with the original gaps between events, divided by this.", valueName: "factor"))
    var speed = "max"

    @Option(help: ArgumentHelp("So many events a second, like 500/s.", valueName: "rate"))
    var rate: String?

    @Option(help: ArgumentHelp("At most this many sources.", valueName: "n"))
    var limit: Int?

    @Flag(help: "Keep the original keys: a receiver that knows them answers that it has them.")
    var sameKeys = false

    @Flag(help: "Count the events of each hour, and send nothing.")
    var dryRun = false

    @Option(help: "Requests at once, each on its own connection.")
    var parallel = 3

    @Option(help: ArgumentHelp("Go on with an interrupted replay; everything else is as it was.", valueName: "run"))
    var resume: String?

    @Option(
        help: ArgumentHelp(
            "Where replays keep what they have staged.",
            discussion: "Default: $XDG_STATE_HOME/ferry/replay, then ~/.local/state/ferry/replay.", valueName: "dir"))
    var state: String?

    @Flag(name: .shortAndLong, help: "Say nothing but errors.")
    var quiet = false

    func validate() throws {
        if resume != nil { return }
        guard destination.to != nil else { throw ValidationError("Missing expected argument '--to <url>'") }
        guard !paths.isEmpty else { throw ValidationError("name what to send again: a spool, a folder or a file") }
        guard (1...256).contains(parallel) else { throw ValidationError("--parallel must be 1 to 256") }
        if let limit, limit < 1 { throw ValidationError("--limit must be at least 1") }
        _ = try time(since, "--since")
        _ = try time(until, "--until")
        _ = try pace()
        if let shiftTime {
            guard shiftTime == "now" else { throw ValidationError("--shift-time must be now") }
            guard timeField != nil else { throw ValidationError("--shift-time needs --time-field") }
        }
    }

    private func time(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw ValidationError("\(option) '\(text)' must be like 2026-11-21T00:00:00Z")
        }
        return time
    }

    private func pace() throws -> ReplayOptions.Pace {
        if let rate {
            guard speed == "max" else { throw ValidationError("--rate and --speed exclude each other") }
            let number = rate.hasSuffix("/s") ? String(rate.dropLast(2)) : rate
            guard let value = Double(number), value > 0, value.isFinite else {
                throw ValidationError("--rate '\(rate)' must be like 500/s")
            }
            return .rate(value)
        }
        if speed == "max" { return .unlimited }
        guard speed.hasSuffix("x"), let factor = Double(speed.dropLast()), factor > 0, factor.isFinite else {
            throw ValidationError("--speed '\(speed)' must be max or like 1x, 10x, 0.5x")
        }
        return .original(factor: factor)
    }

    private func options() throws -> ReplayOptions {
        var upload = try destination.options()
        upload.parallel = parallel
        var options = ReplayOptions(paths: paths, upload: upload)
        options.filter.since = try time(since, "--since")
        options.filter.until = try time(until, "--until")
        options.filter.timeField = timeField
        options.filter.condition = condition
        options.filter.settings = settings
        options.filter.shiftsTimeToNow = shiftTime != nil
        options.priority = priority
        options.stream = stream
        options.pace = try pace()
        options.limit = limit
        options.keepsKeys = sameKeys
        return options
    }

    private var stateFolder: String {
        if let state { return state }
        let environment = ProcessInfo.processInfo.environment
        if let base = environment["XDG_STATE_HOME"], !base.isEmpty { return "\(base)/ferry/replay" }
        return "\(environment["HOME"] ?? ".")/.local/state/ferry/replay"
    }

    func run() async throws {
        if let resume {
            guard let run = try ReplayRun.resume(resume, in: stateFolder) else {
                throw CommandFailure(.usage, "there is no replay \(resume) in \(stateFolder)")
            }
            // As it was begun, but for how it speaks.
            var command = try ReplayCommand.parse(run.position.arguments)
            command.quiet = quiet
            command.output = output
            command.state = state
            return try await command.go(run, isResumed: true)
        }
        // What is wrong with the options is to be told before there is a run.
        if dryRun { return try showHours(try makeReplay { _ in }) }
        _ = try makeReplay { _ in }
        try await go(try ReplayRun.begin(in: stateFolder, arguments: Array(CommandLine.arguments.dropFirst(2)), at: .now()))
    }

    /// - Parameter isResumed: Somebody wants to go on now, whatever was to be waited for.
    private func makeReplay(
        isResumed: Bool = false, _ onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) throws -> Replay {
        do {
            var options = try options()
            options.upload.ignoresWaits = isResumed
            return try Replay(options, onEvent: onEvent)
        } catch let error as ConditionError {
            throw ValidationError("--where: \(error)")
        }
    }

    private func go(_ run: ReplayRun, isResumed: Bool = false) async throws {
        let log = Log(isQuiet: quiet)
        let progress = Progress(isShown: !quiet && !output.json, log: log)
        let replay = try makeReplay(isResumed: isResumed) { progress.show($0) }
        let report: ReplayReport
        do {
            report = try await Interruptible.run {
                try await replay.run(run)
            } stop: {
                replay.stop()
            }
        } catch let error as UploadError {
            throw CommandFailure(.localFailure, "\(error); ferry replay --resume \(run.id) goes on")
        }
        progress.end()
        try show(report, log)
        if report.isComplete { try run.remove() }
        if case .misconfigured = report.stopReason { throw ExitStatus.misconfigured.code }
        if report.stopReason == .interrupted { throw ExitStatus.interrupted.code }
        if !report.isComplete { throw ExitStatus.remaining.code }
        if report.rejected > 0 || !report.damaged.isEmpty || report.unreadable > 0 { throw ExitStatus.badData.code }
    }

    private func show(_ report: ReplayReport, _ log: Log) throws {
        for (path, reason) in report.damaged { log.error("\(path) is left out: \(reason)") }
        switch report.stopReason {
        case .unwell(let reason, _), .misconfigured(let reason), .off(let reason):
            log.error("\(destination.to ?? ""): \(reason.message)")
        case .headWaits, .deadline, .interrupted, .paused, .localFailure, nil: break
        }
        if output.json {
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
                let damaged: Int
                let remaining: Int
            }
            try StandardOutput.print(
                Line(
                    run: report.run, sources: report.sources, sourcesDone: report.sourcesDone, sent: report.sent,
                    sentBytes: report.sentBytes.bytes, sentEvents: report.sentEvents, leftOut: report.leftOut,
                    unreadable: report.unreadable, rejected: report.rejected, damaged: report.damaged.count,
                    remaining: report.remaining
                ).jsonLine())
        } else if !quiet {
            let events = report.sentEvents > 0 ? ", \(counted(report.sentEvents, "event"))" : ""
            try StandardOutput.print(
                "replayed \(counted(report.sent, "segment")) (\(report.sentBytes)\(events)) of \(counted(report.sourcesDone, "source")) as run \(report.run)"
            )
            if report.leftOut > 0 { try StandardOutput.print("\(counted(report.leftOut, "event")) left out") }
            if report.unreadable > 0 { try StandardOutput.print("\(counted(report.unreadable, "line")) could not be read") }
            if report.rejected > 0 {
                try StandardOutput.print("\(report.rejected) rejected, kept in \(stateFolder)/\(report.run)/rejected")
            }
            if !report.isComplete { try StandardOutput.print("not complete: ferry replay --resume \(report.run) goes on") }
        }
        try StandardOutput.flush()
    }

    /// A small chart.
    private func showHours(_ replay: Replay) throws {
        let (hours, report) = try replay.dryRun()
        if output.json {
            struct Line: Encodable {
                let hour: Timestamp
                let events: Int64
            }
            for (hour, events) in hours { try StandardOutput.print(Line(hour: hour, events: events).jsonLine()) }
        } else {
            let most = hours.map(\.events).max() ?? 1
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
        for (path, reason) in report.damaged { Log(isQuiet: quiet).error("\(path): \(reason)") }
        try StandardOutput.flush()
        if !report.damaged.isEmpty { throw ExitStatus.badData.code }
    }
}
