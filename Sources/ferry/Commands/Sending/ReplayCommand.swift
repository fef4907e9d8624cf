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
            Sources are spools (their sent/), folders, and files *.jsonl.gz, *.jsonl, *.jsonl.zst. They are never changed. \
            Requests carry Ferry-Replay: RUN and keys of their own, so that a receiver takes them. Of an object store, s3://bucket/prefix, \
            what is below the prefix is copied into --state first.

            What a replay keeps in --state while it is under way is no source for another one.

            A condition compares fields: 'name == "Purchase" && properties.total > 10', with == != < <= > >= contains starts, exists \
            before a field, ! && || and parentheses.

            Example: ferry replay /var/spool/ferry --to https://hub.example/v1/segments --since 2026-11-01T00:00:00Z --time-field time

            Exit status: 0 everything was sent, 75 some remain: ferry replay --resume RUN goes on, or RUN is under way already, 65 some were rejected, are damaged, or have changed since the replay began, 73 the \
            disk of the staged segments is full, 74 a folder or file could not be read this time: --resume tries again.
            """)

    @Argument(help: ArgumentHelp("What to send again.", valueName: "path"))
    var paths: [String] = []

    @Option(
        help: ArgumentHelp("A spool to send again, in place of a path; also dir/* or dir/web*.", valueName: "dir"))
    var spool: [String] = []

    @OptionGroup var destination: DestinationOptions
    @OptionGroup var output: JSONOption

    @OptionGroup var selection: ReplaySelection

    @Flag(help: "Count the events of each hour, and send nothing.")
    var dryRun = false

    @Option(help: "Requests at once, each on its own connection.")
    var parallel = 3

    @Option(
        help: ArgumentHelp(
            "Go on with an interrupted replay; everything else is as it was, but for --max-gap.", valueName: "run"))
    var resume: String?

    @Option(
        help: ArgumentHelp(
            "Where replays keep what they have staged.",
            discussion: "Default: $XDG_STATE_HOME/ferry/replay, then ~/.local/state/ferry/replay.", valueName: "dir"))
    var state: String?

    @Flag(name: .shortAndLong, help: SpoolOptions.quietHelp)
    var quiet = false

    func validate() throws {
        if resume != nil { return }
        guard let to = destination.to.first else { throw ValidationError("Missing expected argument '--to <url>'") }
        guard destination.to.count == 1, NamedURL(to).name == nil else {
            throw ValidationError("--to: a replay goes to one destination, which has no name")
        }
        guard !paths.isEmpty || !spool.isEmpty else {
            throw ValidationError("name what to send again: a spool, a folder or a file")
        }
        guard !dryRun || storeURLs.isEmpty else {
            throw ValidationError("--dry-run fetches nothing, and does not go with s3:// sources")
        }
        try SettingCheck.require("\(parallel)", as: "parallel", by: "--parallel")
        guard selection.maxGap == nil || selection.keepsGaps else {
            throw ValidationError("--max-gap shortens gaps between events, which --speed 1x or the like keeps")
        }
        guard !selection.sameKeys || selection.sendsWholeSegments else {
            throw ValidationError(
                "--same-keys goes with whole segments as they are, and not with --where, --set, --time-field, --speed or --rate: "
                    + "a key stands for the bytes that it came with")
        }
    }

    private var storeURLs: [String] { paths.filter(ObjectStore.isURL) }

    /// What is not in an object store, with the spools that patterns stand for.
    private var localPaths: [String] {
        (paths + spool).filter { !ObjectStore.isURL($0) }.flatMap { path in
            // One that stands for nothing is missed by its name.
            let folders = SpoolPattern(path).isCollection ? (try? SpoolPattern(path).folders()) ?? [] : []
            return folders.isEmpty ? [path] : folders
        }
    }

    /// Tells of spools whose pending segments are no part of a replay.
    private func notePending() {
        for path in localPaths where (try? Spool.exists(at: path)) == true {
            guard let count = try? Spool.open(path, access: .read).scan().entries.count, count > 0 else { continue }
            Log(isQuiet: quiet).note(
                "\(path) has \(counted(count, "pending segment")): a replay sends what was sent before, ferry upload sends \(count == 1 ? "this" : "these")"
            )
        }
    }

    private func stores() async throws -> [ObjectStore] {
        var stores: [ObjectStore] = []
        for url in storeURLs {
            stores.append(try await StoreOptions.store(url, credentialsFile: destination.credentialsFile, ca: destination.ca))
        }
        return stores
    }

    /// - Parameter objects: The folder with what is copied out of object stores.
    private func options(_ objects: String?) throws -> ReplayOptions {
        var settings = try destination.settings()
        settings.parallel = parallel
        let upload = try settings.options(environment: ProcessInfo.processInfo.environment)
        var options = ReplayOptions(paths: localPaths + [objects].compactMap(\.self), upload: upload)
        try selection.apply(to: &options)
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
                throw CommandError(.usage, "there is no replay \(resume) in \(stateFolder)")
            }
            // As it was begun, but for how it speaks.
            var command = try ReplayCommand.parse(run.position.arguments)
            command.quiet = quiet
            command.output = output
            command.state = state
            if let maxGap = selection.maxGap { command.selection.maxGap = maxGap }
            if let folder = run.position.folder { command.resolvePaths(from: folder) }
            return try await command.go(run, isResumed: true)
        }
        // Mistakes in the options are to be reported before there is a run.
        notePending()
        if dryRun {
            let progress = Progress(isShown: !quiet && !output.json, log: Log(isQuiet: quiet))
            defer { progress.end() }
            return try HourChart(isJSON: output.json, timeField: selection.timeField).print(try makeReplay { _ in }, progress)
        }
        let replay = try makeReplay { _ in }
        do throws(FileError) { try replay.requirePaths() } catch {
            throw CommandError(.localFailure, "\(error); nothing is replayed")
        }
        try await options(nil).upload.requireCredentials()
        for store in try await stores() {
            var reader = store.reader()
            do throws(ObjectStoreError) { try await reader.check(store.namesBegin) } catch {
                let failure = CommandError(error)
                throw quiet && failure.status == .remaining ? failure.status.code : failure
            }
        }
        let arguments = Array(CommandLine.arguments.dropFirst(2))
        let folder = FileManager.default.currentDirectoryPath
        try await go(try ReplayRun.begin(in: stateFolder, arguments: arguments, from: folder, at: .now()))
    }

    /// Makes relative paths absolute.
    private mutating func resolvePaths(from folder: String) {
        paths = paths.map { ObjectStore.isURL($0) ? $0 : $0.resolved(from: folder) }
        spool = spool.map { $0.resolved(from: folder) }
        destination.resolvePaths(from: folder)
    }

    /// - Parameter isResumed: It goes on now and waits for nothing first.
    private func makeReplay(
        of objects: ReplayedObjects? = nil, isResumed: Bool = false, _ onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) throws -> Replay {
        do {
            var options = try options(objects?.folder)
            options.upload.ignoresWaits = isResumed
            return try Replay(options, onEvent: onEvent)
        } catch let error as ConditionError {
            throw CommandError(.usage, "\(error)")
        }
    }

    private func go(_ run: ReplayRun, isResumed: Bool = false) async throws {
        let log = Log(isQuiet: quiet)
        let progress = Progress(isShown: !quiet && !output.json, log: log)
        defer { progress.end() }
        let stores = try await stores()
        let objects = stores.isEmpty ? nil : ReplayedObjects(stores, selection, in: run.spool.path)
        let keepsPace = selection.keepsPace
        let replay = try makeReplay(of: objects, isResumed: isResumed) { event in
            // At a pace the sources are counted, and not what they become.
            if case .sent = event, keepsPace { return }
            progress.show(event)
        }
        let (report, missing): (ReplayReport, Int64)
        do {
            (report, missing) = try await Interruptible.run {
                let missing = try await objects?.fetch(progress) { log.warn($0) } ?? 0
                return (try await replay.run(run) { progress.show($0) }, missing)
            } stop: {
                replay.stop()
            }
        } catch let error as CommandError {
            if isResumed, quiet, error.status == .remaining { throw error.status.code }
            throw CommandError(error.status, "\(error); ferry replay --resume \(run.id) goes on")
        } catch ReplayError.gone {
            throw CommandError(.usage, "there is no replay \(run.id) in \(stateFolder)")
        } catch let error as ReplayError {
            if isResumed, quiet { throw ExitStatus.remaining.code }
            throw CommandError(.remaining, "\(error): let it end, or end it, before --resume")
        } catch let error as UploadError {
            throw CommandError(.localFailure, "\(error); ferry replay --resume \(run.id) goes on")
        } catch let error as FileError {
            throw CommandError(
                error.isOutOfSpace ? .spoolFull : .localFailure, "\(error); ferry replay --resume \(run.id) goes on")
        }
        progress.end()
        try ReplaySummary(
            report: report, isJSON: output.json, isQuiet: quiet, isResumed: isResumed, timeField: selection.timeField,
            state: stateFolder
        ).print()
        if report.isComplete { try run.remove() }
        if case .misconfigured = report.stopReason { throw ExitStatus.misconfigured.code }
        if report.stopReason == .interrupted { throw ExitStatus.interrupted.code }
        if !report.unread.isEmpty { throw ExitStatus.localFailure.code }
        if !report.isComplete { throw ExitStatus.remaining.code }
        if missing > 0 || report.rejected > 0 || report.damagedCount > 0 || report.unreadable > 0 || report.grownCount > 0 {
            throw ExitStatus.badData.code
        }
    }
}
