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
            the disk is full, the command tells the line from which on nothing is stored, and how to go on there.

            Exit status: 0 all is stored and published, 75 all is stored and a part is published later, by the next ferry upload or write; \
            73 the disk or the spool is full, and 74 something could not be written: the message says which lines are stored; 65 a line is no event, \
            69 the spool is disabled, 130 interrupted.

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

    @Option(
        help: ArgumentHelp(
            "The number of the input's first line: of the first one, where a call goes on within something longer.",
            valueName: "n"))
    var firstLine: Int64 = 1

    @OptionGroup var retention: RetentionOptions

    @Flag(help: "Make the spool that --spool names when it is missing.")
    var create = false

    func validate() throws {
        guard rollEvents > 0 else { throw ValidationError("--roll-events must be at least 1") }
        guard (1...Self.lastLine).contains(firstLine) else { throw ValidationError("--first-line must be 1 to \(Self.lastLine)") }
        guard rollBytes > .zero else { throw ValidationError("--roll-bytes must be at least 1") }
        guard invalid == nil || skipInvalid else { throw ValidationError("--invalid needs --skip-invalid") }
        if let stream, StreamLabel(stream) == nil {
            throw ValidationError("--stream '\(stream)' must be 1 to 64 characters of a-z, 0-9, _ and -")
        }
    }

    /// So that no count of lines overflows.
    private static let lastLine: Int64 = 1 << 53

    func run() throws {
        let interrupt = try SignalPipe([SIGINT, SIGTERM])
        let (spool, invalidLines) = try beforeAnyLine { (try openSpool(), try InvalidLines(skips: skipInvalid, path: invalid)) }
        var options = SegmentWriter.Options()
        options.priority = priority
        options.stream = stream.flatMap { StreamLabel($0) }
        options.roll = RollLimits(events: rollEvents, bytes: rollBytes, after: rollAfter)
        options.level = level
        options.retention = retention.limits
        let writer = SegmentWriter(spool: spool, options: options)
        defer {
            let deleted = writer.sentDeleted
            if deleted.segments > 0 {
                spoolOptions.log.note(
                    "deleted \(counted(deleted.segments, "delivered segment")) (\(deleted.bytes)) from sent/: the disk was full")
            }
        }
        var session = WriteSession(
            writer: writer, invalidLines: invalidLines, interrupt: interrupt, log: spoolOptions.log)
        var reading = (index: 0, firstLine: firstLine)
        do {
            for (index, file) in inputs.enumerated() where !session.isInterrupted {
                reading = (index, index == 0 ? firstLine : 1)
                session.begin(firstLine: reading.firstLine)
                try session.read(file == "-" ? .standardInput() : .reading(file))
            }
        } catch {
            // What was read before it and is not in a journal yet belongs there; where that fails, the count says so.
            if !(error is WriteFailure) { try? writer.flush() }
            throw try failure(error, stored(reading, session), events: session.events, writer)
        }
        let segments: [SegmentName]
        do throws(WriteFailure) {
            segments = try writer.finish()
        } catch {
            throw try unpublished(error, stored(reading, session), events: session.events)
        }
        try report(events: session.events, invalid: session.invalid, segments: segments)
        if session.isInterrupted { throw ExitStatus.interrupted.code }
        if session.invalid > 0 { throw ExitStatus.badData.code }
    }

    private var inputs: [String] { files.isEmpty ? ["-"] : files }

    private func stored(_ reading: (index: Int, firstLine: Int64), _ session: borrowing WriteSession) -> StoredInput {
        StoredInput(
            inputs: inputs, index: reading.index, firstLine: reading.firstLine, nextLine: session.nextLine)
    }

    /// The default spool is made where nothing is; what is empty may be the place of another file system.
    private func openSpool() throws -> Spool {
        let isMissing = access(spoolOptions.path, F_OK) != 0
        return try spoolOptions.open(create || spoolOptions.spool == nil && isMissing ? .create : .write)
    }

    /// Where not even the spool or the file for skipped lines can be opened for want of room, no line is stored.
    private func beforeAnyLine<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let failure as CommandFailure where failure.status == .spoolFull {
            let stored = StoredInput(inputs: inputs, index: 0, firstLine: firstLine, nextLine: firstLine)
            try print(stored, isPublished: true)
            throw CommandFailure(failure.status, "\(failure.message). \(stored.whereItStopped). \(stored.continuation)")
        }
    }

    private func failure(
        _ error: any Error, _ stored: StoredInput, events: Int64, _ writer: SegmentWriter
    ) throws -> any Error {
        switch error {
        case let error as InvalidInput:
            let problem = "\(error.path), \(error.problem). What comes before it is"
            let advice = "mend the line, or use --skip-invalid"
            do throws(WriteFailure) {
                let segments = try writer.finish()
                return CommandFailure(
                    .badData,
                    "\(problem) published: \(counted(events, "event")) in \(counted(segments.count, "segment")); \(advice)")
            } catch let failure {
                guard writer.firstUnstored == nil else { return try stopped(failure.exitStatus, "\(failure)", stored, writer) }
                return CommandFailure(.badData, "\(problem) stored, and \(Self.publishedLater) (\(failure)); \(advice)")
            }
        case let error as WriteFailure: return try stopped(error.exitStatus, "\(error)", stored, writer)
        case let error as FileError:
            return try stopped(error.isOutOfSpace ? .spoolFull : .localFailure, "\(error)", stored, writer)
        default: return error
        }
    }

    private static let publishedLater = "a part waits in a journal, which the next ferry upload or write publishes"

    /// Everything is stored: nothing is to be written again.
    private func unpublished(_ failure: WriteFailure, _ stored: StoredInput, events: Int64) throws -> CommandFailure {
        try print(stored, isPublished: false)
        return CommandFailure(
            failure.exitStatus == .spoolFull ? .remaining : failure.exitStatus,
            "\(failure). All \(counted(events, "event")) are stored, to line \(stored.nextLine - 1) of \(stored.path), and \(Self.publishedLater)"
        )
    }

    /// Says exactly which lines are safe, so that another call can go on behind them.
    private func stopped(
        _ status: ExitStatus, _ reason: String, _ stored: StoredInput, _ writer: SegmentWriter
    ) throws -> CommandFailure {
        let isForced = (try? writer.sync()) != nil
        // What cannot be published now stays in its journal, which the next ferry write or upload publishes.
        let isPublished = (try? writer.finish()) != nil
        try print(stored, isPublished: isPublished)
        var message = "\(reason). \(stored.whereItStopped)"
        if !isPublished { message += "; \(Self.publishedLater)" }
        if !isForced { message += "; the disk refused to be forced, so a power cut may take some of it" }
        return CommandFailure(status, "\(message). \(stored.continuation)")
    }

    private func print(_ stored: StoredInput, isPublished: Bool) throws {
        guard output.json else { return }
        struct Report: Encodable {
            let input: String
            let storedLines: Int64
            let nextLine: Int64
            let published: Bool
        }
        try StandardOutput.print(
            Report(
                input: stored.path, storedLines: stored.nextLine - stored.firstLine, nextLine: stored.nextLine,
                published: isPublished
            ).jsonLine())
        try StandardOutput.flush()
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
