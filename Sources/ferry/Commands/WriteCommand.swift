import ArgumentParser
import FerrySpool
import Glibc

struct WriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Put JSON lines from files or standard input into the spool.",
        discussion: """
            Each line is one event: a JSON value in UTF-8, at most 1 MiB. Events are safe from a kill -9 as soon as they are \
            read, and are published as a segment when one of the --roll limits is reached or the input ends.

            A spool named by --spool must be there (ferry init makes one), unless --create makes it; the default one is made when it is missing. When \
            the disk is full, the command tells the line from which on nothing is stored.

            Example: journalctl -f -o json | ferry write --stream journal --roll-after 10s
            """)

    @Argument(help: ArgumentHelp("Files with JSON lines; none or '-' means standard input.", valueName: "file"))
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

    @Option(help: "Compression from 1 (fast) to 9 (small).")
    var level = CompressionLevel.standard

    @Flag(help: "Go on after lines that are no events.")
    var skipInvalid = false

    @Option(help: ArgumentHelp("Append the lines that --skip-invalid skips to this file.", valueName: "file"))
    var invalid: String?

    @OptionGroup var retention: RetentionOptions

    @Flag(help: "Make the spool that --spool names when it is missing.")
    var create = false

    func validate() throws {
        guard rollEvents > 0 else { throw ValidationError("--roll-events must be at least 1") }
        guard rollBytes > .zero else { throw ValidationError("--roll-bytes must be at least 1") }
        guard invalid == nil || skipInvalid else { throw ValidationError("--invalid needs --skip-invalid") }
        if let stream, StreamLabel(stream) == nil {
            throw ValidationError("--stream '\(stream)' must be 1 to 64 characters of a-z, 0-9, _ and -")
        }
    }

    func run() throws {
        let interrupt = try SignalPipe([SIGINT, SIGTERM])
        let spool = try spoolOptions.open(create || spoolOptions.spool == nil ? .create : .write)
        var options = SegmentWriter.Options()
        options.priority = priority
        options.stream = stream.flatMap { StreamLabel($0) }
        options.roll = RollLimits(events: rollEvents, bytes: rollBytes, after: rollAfter)
        options.level = level
        options.retention = retention.limits
        let writer = SegmentWriter(spool: spool, options: options)
        var session = WriteSession(
            writer: writer, invalidLines: try InvalidLines(skips: skipInvalid, path: invalid), interrupt: interrupt,
            log: spoolOptions.log)
        var path = ""
        do {
            for file in files.isEmpty ? ["-"] : files where !session.isInterrupted {
                path = file == "-" ? "standard input" : file
                try session.read(file == "-" ? .standardInput() : .reading(file))
            }
        } catch {
            // What was read before it and is not in a journal yet belongs there; where that fails, the count says so.
            if !(error is WriteFailure) { try? writer.flush() }
            throw try failure(error, Stored(path: path, lines: session.storedLines, events: session.events), writer)
        }
        let segments = try publish(writer)
        try report(events: session.events, invalid: session.invalid, segments: segments)
        if session.isInterrupted { throw ExitStatus.interrupted.code }
        if session.invalid > 0 { throw ExitStatus.badData.code }
    }

    private func publish(_ writer: SegmentWriter) throws -> [SegmentName] {
        do throws(WriteFailure) {
            return try writer.finish()
        } catch {
            throw CommandFailure(
                error.exitStatus,
                "\(error). All events that were read are stored; a part waits in a journal, which the next ferry upload or write publishes"
            )
        }
    }

    /// How far an input is stored.
    private struct Stored {
        let path: String
        let lines: Int64
        /// Events of all inputs, those that were not stored included.
        let events: Int64
    }

    private func failure(_ error: any Error, _ stored: Stored, _ writer: SegmentWriter) throws -> any Error {
        switch error {
        case let error as InvalidInput:
            do {
                let segments = try publish(writer)
                return CommandFailure(
                    .badData,
                    "\(error.path), \(error.problem). What comes before it is published: \(counted(stored.events, "event")) in \(counted(segments.count, "segment")); "
                        + "mend the line, or use --skip-invalid")
            } catch { return error }
        case let error as WriteFailure: return try stopped(error.exitStatus, "\(error)", stored, writer)
        case let error as FileError:
            return try stopped(error.isOutOfSpace ? .spoolFull : .localFailure, "\(error)", stored, writer)
        default: return error
        }
    }

    /// Says exactly which lines are safe, so that another call can go on behind them.
    private func stopped(
        _ status: ExitStatus, _ reason: String, _ stored: Stored, _ writer: SegmentWriter
    ) throws -> CommandFailure {
        let isForced = (try? writer.sync()) != nil
        // What cannot be published now stays in its journal, which the next ferry write or upload publishes.
        let isPublished = (try? writer.finish()) != nil
        if output.json {
            struct Report: Encodable {
                let input: String
                let storedLines: Int64
                let published: Bool
            }
            try StandardOutput.print(Report(input: stored.path, storedLines: stored.lines, published: isPublished).jsonLine())
            try StandardOutput.flush()
        }
        let input = files.isEmpty || stored.path == "standard input" ? "INPUT" : stored.path
        let line = stored.lines + 1
        var message = "\(reason). Stopped at \(stored.path), line \(line): every line before it is stored, and none from there on"
        if !isPublished { message += "; a part waits in a journal, which the next ferry upload or write publishes" }
        if !isForced { message += "; the disk refused to be forced, so a power cut may take some of it" }
        return CommandFailure(status, "\(message). To go on: tail -n +\(line) \(input) | ferry write")
    }

    private func report(events: Int64, invalid: Int64, segments: [SegmentName]) throws {
        if output.json {
            struct Report: Encodable {
                let events: Int64
                let invalid: Int64
                let segments: [String]
            }
            try StandardOutput.print(
                Report(events: events, invalid: invalid, segments: segments.map(\.fileName)).jsonLine())
        } else if !spoolOptions.quiet {
            let skipped = invalid > 0 ? ", \(counted(invalid, "invalid line")) skipped" : ""
            try StandardOutput.print(
                "wrote \(counted(events, "event")) in \(counted(segments.count, "segment")) to \(spoolOptions.path)\(skipped)")
        }
        try StandardOutput.flush()
    }
}

extension WriteFailure {
    fileprivate var exitStatus: ExitStatus {
        switch self {
        case .spoolFull: .spoolFull
        case .disabled: .unavailable
        case .file(let error): error.isOutOfSpace ? .spoolFull : .localFailure
        }
    }
}
