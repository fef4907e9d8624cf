import ArgumentParser
import FerrySpool
import Glibc

struct WriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Put JSON lines from files or standard input into the spool.",
        discussion: """
            Each line is one event: a JSON value in UTF-8, at most 1 MiB. Events are safe from a kill -9 as soon as they are \
            in the journal, at most one read of 64 KiB behind: what was read from a pipe just before, and the line that has not ended, are lost with \
            the process. They are published as a segment when one of the --roll limits is reached or the input ends.

            A spool named by --spool must be there (ferry init makes one), unless --create makes it; the default one is made when it is missing. When \
            the disk is full, the command names the first line that is not stored, and how to go on there.

            Exit status: 0 all is stored and published, 75 all is stored and a part is published later, by the next ferry upload or write; \
            73 the disk or the spool is full, 74 something could not be written, and 130 interrupted: the message says up to which line the input is \
            stored, and how to go on there, as --json does always; 65 a line is no event, 69 the spool is disabled.

            Input that is compressed with gzip or zstd is decompressed.

            Example: journalctl -f -o json | ferry write --stream journal --roll-after 10s
            """)

    @Argument(help: ArgumentHelp("Files with JSON lines, also compressed; none or '-' means standard input.", valueName: "file"))
    var files: [String] = []

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var output: JSONOption

    @Option(help: "0 (critical, leaves first) to 9 (bulk), or critical, normal, bulk.")
    var priority = Priority.normal

    @Option(help: "A label for the segments: 1 to 64 of a-z, 0-9, _ and -.")
    var stream: String?

    @Option(help: ArgumentHelp("Events in a segment, at most.", valueName: "n"))
    var rollEvents: Int64 = 50_000

    @Option(help: ArgumentHelp("Bytes in a segment before compression, at most.", valueName: "size"))
    var rollBytes = ByteCount.mebibytes(16)

    @Option(
        help: ArgumentHelp("Publish a segment this long after its first event, even while more may come.", valueName: "duration"))
    var rollAfter = Duration.seconds(60)

    @Option(
        help: ArgumentHelp(
            "Compression: 1 (fast) to 9 (small), fast, or auto: 6 while the input is slower than the compressor, and fast while it waits.",
            valueName: "level"))
    var level = LevelChoice.auto

    @Flag(help: "Go on after lines that are no events.")
    var skipInvalid = false

    @Option(help: ArgumentHelp("Append the lines that --skip-invalid skips to this file.", valueName: "file"))
    var invalid: String?

    @Option(
        help: ArgumentHelp(
            "The number of the first line, where a call goes on within a longer input; with --array that of the first element that is not stored yet.",
            valueName: "n"))
    var firstLine: Int64 = 1

    @Flag(help: "Make an event of each element of JSON arrays, which may have any number of lines.")
    var array = false

    @Option(
        help: ArgumentHelp(
            "Store a line that is no JSON object as {\"FIELD\": \"the line\"}.", valueName: "field"))
    var asText: String?

    @OptionGroup var retention: RetentionOptions

    @Flag(help: "Make the spool that --spool names when it is missing.")
    var create = false

    func validate() throws {
        guard rollEvents > 0 else { throw ValidationError("--roll-events must be at least 1") }
        guard (1...Self.lastLine).contains(firstLine) else { throw ValidationError("--first-line must be 1 to \(Self.lastLine)") }
        guard rollBytes > .zero else { throw ValidationError("--roll-bytes must be at least 1") }
        guard invalid == nil || skipInvalid else { throw ValidationError("--invalid needs --skip-invalid") }
        guard !array || asText == nil else { throw ValidationError("--array reads no lines: leave --as-text out") }
        guard asText?.utf8.count ?? 1 <= 256 else { throw ValidationError("--as-text must have at most 256 bytes") }
        if let stream, StreamLabel(stream) == nil {
            throw ValidationError("--stream '\(stream)' must be 1 to 64 characters of a-z, 0-9, _ and -")
        }
    }

    /// So that no count of lines overflows.
    private static let lastLine: Int64 = 1 << 53

    func run() throws {
        try DescriptorLimit.requireForWriting()
        let interrupt = try SignalPipe(EarlySignals.ofCommand)
        let (spool, invalidLines) = try beforeAnyLine {
            (try openSpool(), try InvalidLines(skips: skipInvalid, path: invalid, inputs: inputs))
        }
        var options = SegmentWriter.Options()
        options.priority = priority
        options.stream = stream.flatMap { StreamLabel($0) }
        options.roll = RollLimits(events: rollEvents, bytes: rollBytes, after: rollAfter)
        options.level = level
        options.retention = retention.limits
        let writer = SegmentWriter(spool: spool, options: options)
        defer {
            let deleted = writer.sentDeleted
            if deleted.segments > 0 { spoolOptions.log.note(sentDeletedText(deleted)) }
            tell(writer.dropped)
        }
        let progress = Progress(isShown: isWatched, log: spoolOptions.log)
        defer { progress.end() }
        progress.begin(of: inputs)
        var session = WriteSession(
            writer: writer, invalidLines: invalidLines, isArray: array, textField: asText, interrupt: interrupt,
            progress: progress, log: spoolOptions.log)
        var reading = (index: 0, firstLine: firstLine)
        do {
            for (index, file) in inputs.enumerated() where !session.isInterrupted {
                reading = (index, index == 0 ? firstLine : 1)
                session.begin(firstLine: reading.firstLine)
                try session.read(file == "-" ? .standardInput() : .reading(file))
                // As when tail(1) cannot open the file that is to be gone on with.
                if index == 0, firstLine > 1, session.nextLine == firstLine, !session.isInterrupted {
                    spoolOptions.log.warn(
                        "nothing came of \(file == "-" ? "standard input" : file), though line \(firstLine) was to follow")
                }
            }
        } catch {
            progress.end()
            // What was read before it and is not in a journal yet belongs there; where that fails, the count says so.
            if !(error is SegmentWriteError) { try? writer.flush() }
            throw try failure(error, stored(reading, session), in: spool, writer)
        }
        let stored = stored(reading, session)
        let segments: [SegmentName]
        do throws(SegmentWriteError) {
            segments = try writer.finish()
        } catch {
            guard writer.firstUnstored == nil else { throw try stopped(error.exitStatus, "\(error)", stored, in: spool, writer) }
            throw try unpublished(error, stored, isInterrupted: session.isInterrupted, in: spool)
        }
        progress.end()
        let printing = Result { try report(stored, segments) }
        if session.isInterrupted {
            var message = "Interrupted. \(stored.whereItStopped). \(stored.continuation)"
            if case .failure(let failure as CommandError) = printing { message = "\(failure.message). \(message)" }
            throw CommandError(.interrupted, message)
        }
        do { try printing.get() } catch let failure as CommandError {
            let skipped = stored.invalid > 0 ? ", but for \(counted(stored.invalid, "invalid line"))" : ""
            throw CommandError(
                failure.status,
                "\(failure.message). All is stored\(skipped): \(counted(stored.events, "event")), in \(spoolOptions.path)")
        }
        if stored.invalid > 0 { throw ExitStatus.badData.code }
    }

    /// Whether it is shown how far it is. A person who types the events has the terminal.
    private var isWatched: Bool { !spoolOptions.quiet && !output.json && !(inputs.contains("-") && isatty(0) != 0) }

    var inputs: [String] { files.isEmpty ? ["-"] : files }

    /// The options without which what follows would go elsewhere.
    private var place: String {
        let options = [
            ("--spool", spoolOptions.spool), ("--stream", stream),
            ("--priority", priority == .normal ? nil : "\(priority.level)"),
        ]
        return options.map { name, value in
            // What begins with a hyphen the parser would take for an option.
            value.map { " \(name)\($0.hasPrefix("-") ? "=" : " ")\($0.shellWord)" } ?? ""
        }.joined()
    }

    private func isFile(_ input: String) -> Bool {
        var status = stat()
        // One that is not there may come.
        return input != "-" && (stat(input, &status) != 0 || status.st_mode & S_IFMT == S_IFREG)
    }

    private func stored(_ reading: (index: Int, firstLine: Int64), _ session: borrowing WriteSession) -> StoredInput {
        StoredInput(
            inputs: inputs, index: reading.index, firstLine: reading.firstLine, nextLine: session.nextLine,
            events: session.events, invalid: session.invalid, form: session.form ?? .plain, isArray: array,
            isRepeatable: isFile(inputs[reading.index]), place: place)
    }

    /// Opens the spool. The default spool is made where nothing is; what is empty may be the place of another file system.
    private func openSpool() throws -> Spool {
        let isMissing = access(spoolOptions.path, F_OK) != 0
        return try spoolOptions.open(create || spoolOptions.spool == nil && isMissing ? .create : .write)
    }

    /// Calls `body` before the first line. Where not even the spool or the file for skipped lines can be opened for want of room, no line is stored.
    private func beforeAnyLine<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as CommandError where failure.status == .spoolFull {
            let stored = StoredInput(
                inputs: inputs, index: 0, firstLine: firstLine, nextLine: firstLine,
                isRepeatable: isFile(inputs[0]), place: place)
            if output.json { try WriteReport(stored, isPublished: true).print() }
            throw CommandError(failure.status, "\(failure.message). \(stored.whereItStopped). \(stored.continuation)")
        }
    }

    /// Reports data that gave way, also where nothing else is reported.
    private func tell(_ dropped: (expired: LedgerTotals.Count, evicted: LedgerTotals.Count)) {
        for (count, verb, limit) in [
            (dropped.evicted, "evicted", "--max-spool-bytes"), (dropped.expired, "expired", "--max-spool-age"),
        ]
        where count.segments > 0 {
            spoolOptions.log.warn(
                "\(verb) \(counted(count.segments, "pending segment")) (\(count.bytes)) for \(limit); the ledger names each")
        }
    }

    func report(_ stored: StoredInput, _ segments: [SegmentName]) throws {
        if output.json { return try WriteReport(stored, segments: segments, isPublished: true).print() }
        guard !spoolOptions.quiet else { return }
        let skipped = stored.invalid > 0 ? ", \(counted(stored.invalid, "invalid line")) skipped" : ""
        try StandardOutput.print(
            "wrote \(counted(stored.events, "event")) in \(counted(segments.count, "segment")) to \(spoolOptions.path)\(skipped)")
        try StandardOutput.flush()
    }
}
