import ArgumentParser
import FerrySpool
import FerryUpload

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show pending segments in upload order, and why each waiting one waits.",
        discussion: """
            Of an object store, s3://bucket/prefix, all objects below the prefix are shown, in the order of their names.

            Example: ferry list --limit 20
            """)

    @Argument(
        help: ArgumentHelp(
            "Spools, in place of --spool: folders, dir/* or dir/web*; or an object store, s3://bucket/prefix.",
            valueName: "spool"))
    var places: [String] = []

    private var store: String? { places.first(where: ObjectStore.isURL) }

    @OptionGroup var spoolOptions: SpoolOptions
    @OptionGroup var storeOptions: StoreOptions
    @OptionGroup var output: JSONOption

    @Option(help: ArgumentHelp("Show at most this many.", valueName: "n"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more") }
        if let store {
            guard places == [store], spoolOptions.spool == nil else {
                throw ValidationError("an object store is named alone, without --spool")
            }
        } else if !storeOptions.isEmpty {
            throw ValidationError("--credentials-file and --ca go with an object store")
        }
    }

    func run() async throws {
        if let store {
            let inspection = StoreInspection(store: try await storeOptions.store(store), log: spoolOptions.log)
            return try await inspection.list(most: limit, isJSON: output.json)
        }
        try spoolOptions.forEach(places) { options, prefix in try list(options, isOneOfSeveral: !prefix.isEmpty) }
    }

    private func list(_ spoolOptions: SpoolOptions, isOneOfSeveral: Bool) throws {
        let spool = try spoolOptions.openForReading()
        let now = Timestamp.now()
        let standstill = spool.standstill(at: now)
        // One that is to be mended is tried at each call: it does not stand still.
        let failure = spool.failingDestinations { _ in }.map(\.state).max { $0.lastAttemptAt < $1.lastAttemptAt }?.lastError
            .message
        var segments: PendingSegments
        do throws(FileError) { segments = try PendingSegments(spool, now: now) } catch {
            throw CommandError(error)
        }
        // One tells the exit status as well as all.
        var failures = [spool.stateFailure, spool.sentFailure].compactMap(\.self)
        if let failure = spool.sentFailure { Log(isQuiet: false).warn("\(failure)") }
        var left = limit ?? .max
        // One after the other, without a copy of a million of them.
        while left > 0, let segment = segments.next() {
            left -= 1
            let look = Look(segment, in: spool)
            if let failure = look.failure { failures.append(failure) }
            if output.json {
                try StandardOutput.print(try json(segment, of: spool.path, look, standstill))
            } else {
                // Lines of a fixed form rather than a table: a million segments must not be held for the sake of column widths.
                let events = look.events.map { counted($0, "event") } ?? "? events"
                let state = look.failure.map { "cannot be sent: \($0)" } ?? describe(segment, standstill, failure, now: now)
                try StandardOutput.print(
                    "\(isOneOfSeveral ? spool.path + "/" : "")\(segment.name)  \(segment.size)  \(events)  \(segment.created.age(at: now, "old"))  \(state)"
                )
            }
        }
        try StandardOutput.flush()
        if let status = ExitStatus(failures) { throw status.code }
    }

    /// What the file itself tells.
    private struct Look {
        var events: Int64?
        var failure: FileError?

        init(_ segment: PendingSegment, in spool: Spool) {
            failure = segment.failure
            if let notes = segment.notes {
                events = notes.events
                return
            }
            do throws(FileError) { events = try spool.notedEvents(of: segment.name) } catch { failure = failure ?? error }
        }
    }

    /// Returns a segment's state in words.
    ///
    /// - Parameter destination: What the destination said when it failed last, and has not worked since.
    private func describe(
        _ segment: PendingSegment, _ standstill: Standstill?, _ destination: String?, now: Timestamp
    ) -> String {
        switch segment.state {
        case .due:
            if let standstill { return "waits: \(standstill.text)" }
            return segment.retry.map { $0.text(when: "due again") }
                ?? "due\(destination.map { ", the destination failed: \($0)" } ?? "")"
        case .beingWritten(let until): return "may be still being written; looked at again in \(until.wait(at: now))"
        case .unfinished(let until):
            return "no whole gzip file, and may be still being written; given up in \(until.wait(at: now))"
        case .exported(let bundle): return "travels in the bundle \(bundle), until its receipt comes"
        case .waits(let until):
            guard let retry = segment.retry else { return "waits" }
            let whose = retry.lastError.scope == .destination ? "the destination: " : ""
            return
                "waits until \(until.rfc3339) (in \(until.wait(at: now))), tried \(counted(retry.attempts, "time")): \(whose)\(retry.lastError.message)"
        }
    }

    private func json(_ segment: PendingSegment, of spool: String, _ look: Look, _ standstill: Standstill?) throws -> String {
        struct Line: Encodable {
            let spool: String
            let segment: String
            let priority: UInt8
            let created: Timestamp
            let bytes: Int64
            let events: Int64?
            let state: String
            let until: Timestamp?
            /// In which it travels.
            let bundle: String?
            /// Why nothing at all is sent from the spool.
            let standstill: Standstill?
            let retry: RetryState?
            let problem: String?
        }
        var state = "due"
        var until: Timestamp?
        var bundle: String?
        switch segment.state {
        case .due: if let standstill { (state, until) = ("waits", standstill.until) }
        case .waits(let moment): (state, until) = ("waits", moment)
        case .beingWritten(let moment): (state, until) = ("settles", moment)
        case .unfinished(let moment): (state, until) = ("unfinished", moment)
        case .exported(let travelling): (state, bundle) = ("exported", travelling)
        }
        return try Line(
            spool: spool, segment: segment.name, priority: segment.priority.level, created: segment.created,
            bytes: segment.size.bytes,
            events: look.events, state: look.failure == nil ? state : "unreadable", until: until, bundle: bundle,
            standstill: bundle == nil ? standstill : nil, retry: segment.retry,
            problem: look.failure?.description
        ).jsonLine()
    }
}
