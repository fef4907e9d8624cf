public import FerrySpool
public import FerryUpload
import Glibc
import Synchronization

/// Sends archived events again.
///
/// Sources are staged, some hundred at a time, in a spool of the run's own and sent from there as everything else is: what fails is
/// retried, and an interrupted run goes on where it was. The sources are never changed.
public final class Replay: Sendable {
    private let options: ReplayOptions
    private let filter: EventFilter
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let current = Mutex<UploadPass?>(nil)
    private let isStopped = Atomic<Bool>(false)

    /// Creates a replay; throws when the filter's options cannot be read.
    public init(
        _ options: ReplayOptions, onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
    ) throws(ConditionError) {
        self.options = options
        self.onEvent = onEvent
        filter = try EventFilter(options.filter)
    }

    /// Finishes what is under way, and ends; the run can be resumed.
    public func stop() {
        isStopped.store(true, ordering: .relaxed)
        current.withLock { $0 }?.stop()
    }

    /// Sees that there is something at every path.
    ///
    /// - Throws: `FileError` for the first where there is nothing.
    package func requirePaths() throws(FileError) { for path in options.paths { _ = try FileStatus(of: path) } }

    /// Returns the sources, in the order in which they are sent, and what is none.
    func files() throws(FileError) -> (files: [ReplayFile], problems: [(path: String, reason: String)]) {
        var source = ReplaySource()
        for path in options.paths { try source.add(path) }
        var files = source.unique().filter { file in
            (options.priority == nil || file.segment.priority == options.priority)
                && (options.stream == nil || file.segment.stream == options.stream)
                && (filter.knowsTimes || filter.isInRange(file.segment.created))
        }
        // By time alone where gaps matter: a crash and a page view of one second belong together.
        if options.pace != .unlimited {
            files.sort { ($0.segment.created, $0.path) < ($1.segment.created, $1.path) }
        }
        return (Array(files.prefix(options.limit ?? .max)), source.problems)
    }

    /// Returns the sources of a run: as they were when it began.
    private func files(of run: inout ReplayRun, _ report: inout ReplayReport) throws(FileError) -> [ReplayFile] {
        if let files = try run.sources() { return files }
        if run.position.sources > 0 || run.position.lines > 0 {
            onEvent(
                .warning("the sources of this replay were not written down by the version that began it: it starts over"))
        }
        let (files, problems) = try files()
        report = ReplayReport()
        report.run = run.id
        report.damaged = problems
        try run.setSources(files, findings: ReplayFindings(report))
        return files
    }

    /// Fixes what times are shifted by before anything is staged.
    func fixShift(_ files: [ReplayFile], _ run: inout ReplayRun) throws(FileError) -> EventFilter {
        var filter = filter
        filter.shift = run.position.shift.map { .milliseconds($0) }
        guard filter.needsShift, let first = filter.firstTime(in: files, limit: options.upload.inflateLimit) else {
            return filter
        }
        let shift = Timestamp.now() - first
        try run.save { $0.shift = shift.wholeMilliseconds }
        filter.shift = .milliseconds(shift.wholeMilliseconds)
        return filter
    }

    /// Staged together: little enough for the disk, enough to keep the connections busy.
    private static let chunkFiles = 1000
    private static let chunkBytes = ByteCount.mebibytes(256)

    /// Sends everything that is not sent yet.
    ///
    /// - Throws: ``ReplayError``, `FileError` or `UploadError`.
    public func run(_ run: ReplayRun) async throws -> ReplayReport { try await self.run(run) { _ in } }

    /// Does the same, and tells how far it is: at a pace by the sources, otherwise of what is to be sent.
    package func run(
        _ run: ReplayRun, onProgress: @escaping @Sendable (WorkProgress) -> Void
    ) async throws -> ReplayReport {
        var run = try run.taken()
        var report = ReplayReport(run.position.findings ?? .init())
        report.run = run.id
        let files = try files(of: &run, &report)
        report.sources = files.count
        let filter = try fixShift(files, &run)
        try run.nameStaged()
        if options.pace != .unlimited {
            let paced = PacedReplay(options, onEvent: onEvent, onProgress: onProgress)
            report = try await paced.run(files, &run, filter, report) { [self] in isStopped.load(ordering: .relaxed) }
            // What is not sent yet has no pace any more.
            report.add(try await send(run))
            return try report.withRejected(of: run)
        }
        var next = min(max(0, run.position.sources), files.count)
        var again = (run.position.unread ?? []).filter(files.indices.contains)
        onProgress(try run.sending(files[next...] + again.map { files[$0] }))
        // What an earlier process had staged.
        var outcome = try await send(run)
        var stage = try Stage(run, options, filter, report)
        var unread: [Int] = []
        while next < files.count || !again.isEmpty, outcome.stopReason == nil, !isStopped.load(ordering: .relaxed) {
            if again.isEmpty {
                let chunk = Array(next..<min(next + Self.chunkFiles, files.count))
                next += try fill(&stage, files, chunk, &unread, onProgress)
            } else {
                again.removeFirst(try fill(&stage, files, Array(again.prefix(Self.chunkFiles)), &unread, onProgress))
            }
            try run.commit(sources: next, unread: again + unread, findings: ReplayFindings(stage.report))
            stage.goOn(with: run)
            outcome.add(try await send(run))
        }
        report = stage.report
        report.sourcesDone = next
        report.add(outcome)
        return try report.withRejected(of: run)
    }

    /// Stages some sources.
    ///
    /// - Parameter unread: Those that could not be read this time are added.
    /// - Returns: How many were gone through: not all where they are large, or where the disk has no room for more of them at once.
    private func fill(
        _ stage: inout Stage, _ files: [ReplayFile], _ indices: [Int], _ unread: inout [Int],
        _ onProgress: (WorkProgress) -> Void
    ) throws(FileError) -> Int {
        var bytes = ByteCount.zero
        for (count, index) in indices.enumerated() {
            guard bytes < Self.chunkBytes else { return count }
            // What it became: as large as it is, or what a filter left of it, or nothing.
            var staged: ByteCount?
            do {
                staged = try stage.add(files[index])
            } catch {
                // One file that cannot be read does not end the others.
                switch stage.meaning(of: error) {
                case .own(let error):
                    // What is staged is sent first, and gives its room back.
                    guard error.isDiskFull, count > 0 else { throw error }
                    return count
                case .unread:
                    unread.append(index)
                    stage.noteUnread(files[index], error)
                case .lasting: stage.noteDamage(files[index], error)
                }
            }
            bytes += files[index].size
            if staged != files[index].size {
                onProgress(.revises(segments: staged == nil ? -1 : 0, bytes: (staged ?? .zero) - files[index].size))
            }
        }
        return indices.count
    }

    private func send(_ run: ReplayRun) async throws -> UploadReport {
        let pass = try UploadPass(run.spool, options: options.uploadOptions(run), onEvent: onEvent)
        current.withLock { $0 = pass }
        if isStopped.load(ordering: .relaxed) { pass.stop() }
        defer { current.withLock { $0 = nil } }
        return try await pass.run()
    }

    /// Returns how many events there are in each hour, and how many were left out.
    public func dryRun() throws -> (hours: [(hour: Timestamp, events: Int64)], report: ReplayReport) { try dryRun { _ in } }

    /// Does the same, and tells how far it is.
    package func dryRun(
        onProgress: (WorkProgress) -> Void
    ) throws -> (hours: [(hour: Timestamp, events: Int64)], report: ReplayReport) {
        var counts: [Int64: Int64] = [:]
        var report = ReplayReport()
        let (files, problems) = try files()
        report.sources = files.count
        report.damaged = problems
        let hour: Int64 = 3_600_000
        func add(_ time: Timestamp, _ events: Int64) { counts[time.milliseconds / hour * hour, default: 0].add(events) }
        onProgress(files.beginning(.reading))
        for file in files {
            defer { onProgress(.done(file.size)) }
            do {
                var fields = filter.makeFields()
                if !filter.looksIntoEvents, file.form == .gzip, let noted = try OpenFile.reading(file.path).notedEvents() {
                    add(file.segment.created, noted)
                    report.sentEvents.add(noted)
                } else {
                    try file.forEachLine(limit: options.upload.inflateLimit) { line in
                        switch filter.looksIntoEvents ? filter.judge(line, &fields) : .passes(nil) {
                        case .passes(let time):
                            add(time ?? file.segment.created, 1)
                            report.sentEvents += 1
                        case .isOut: report.leftOut += 1
                        case .unreadable: report.unreadable += 1
                        }
                    }
                }
                report.sourcesDone += 1
            } catch {
                report.damaged.append((file.path, "\(error)"))
            }
        }
        return (counts.sorted { $0.key < $1.key }.map { (Timestamp(milliseconds: $0.key), $0.value) }, report)
    }
}

extension ReplayOptions {
    /// Returns the options that the run's spool is sent with.
    func uploadOptions(_ run: ReplayRun) -> UploadOptions {
        var options = upload
        options.headers.append(.init(name: FerryHeader.replay.rawValue, value: run.id, isSecret: false))
        // The original is still there.
        options.keepsSent = false
        return options
    }
}

extension ReplayRun {
    /// Returns what is to be sent: of sources that are not staged yet, and of what an earlier process had staged.
    fileprivate func sending(_ files: some Sequence<ReplayFile>) throws(FileError) -> WorkProgress {
        let staged = try spool.scan(sizes: true)
        return files.beginning(.sending, with: (Int64(staged.entries.count), staged.segmentBytes))
    }
}

extension Sequence<ReplayFile> {
    /// Returns that work on all of them begins, and on more.
    func beginning(
        _ part: WorkProgress.Part, with more: (segments: Int64, bytes: ByteCount) = (0, .zero)
    ) -> WorkProgress {
        let total = reduce(more) { ($0.segments + 1, $0.bytes + $1.size) }
        return .begins(part, segments: total.segments, bytes: total.bytes)
    }
}

extension UploadReport {
    fileprivate mutating func add(_ other: UploadReport) {
        sent.add(other.sent)
        sentEvents.add(other.sentEvents)
        rejected += other.rejected
        split += other.split
        remaining = other.remaining
        taken = other.taken
        takenNames = other.takenNames
        stopReason = other.stopReason
        destinationWaitsUntil = other.destinationWaitsUntil
    }
}

extension ReplayReport {
    /// Returns the report with the rejected segments of the run. What earlier processes of the run had rejected lies in its folder.
    fileprivate func withRejected(of run: ReplayRun) throws(FileError) -> ReplayReport {
        var report = self
        report.rejected = max(rejected, try run.spool.rejected.segments().count)
        return report
    }

    fileprivate mutating func add(_ outcome: UploadReport) {
        sent.add(outcome.sent.segments)
        sentBytes += outcome.sent.bytes
        sentEvents.add(outcome.sentEvents)
        rejected += outcome.rejected
        // What another process has is not delivered before it says so.
        remaining = outcome.remaining + outcome.taken
        busy = outcome.takenNames
        stopReason = outcome.stopReason
        destinationWaitsUntil = outcome.destinationWaitsUntil
    }
}
