import Dispatch
import FerrySpool
import FerryUpload
import Glibc

/// Reads the sources and publishes their events in time.
struct PacedFeeder: Sendable {
    /// Events that are closer than this leave together.
    private static let grain = Duration.milliseconds(2)
    /// A gap may be of days; a wish to stop is noticed within this time.
    private static let longestSleep = Duration.milliseconds(100)
    /// A longer wait is reported.
    private static let longestSilence = Duration.seconds(60)
    /// The most requests a second at a fixed rate.
    private static let requestsPerSecond = 50.0
    /// What leaves together is held in memory.
    private static let largestGroup = (events: Int64(20_000), bytes: 16 << 20)

    let options: ReplayOptions
    var stage: Stage
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let onProgress: @Sendable (WorkProgress) -> Void
    let isStopped: @Sendable () -> Bool
    private var group: [UInt8] = []
    private var groupEvents: Int64 = 0
    private var groupTime: Timestamp?
    private var groupLine: Int64 = 0
    /// Its first event's place among all events of the source, from 1.
    private var groupPlace: Int64 = 0
    /// What was counted before its first event.
    private var groupCounts: Counts = (0, 0)
    /// What was counted up to the last event that passes.
    private var counts: Counts = (0, 0)
    /// Of the source's events up to the last that is gathered.
    private var digest = LineDigest()
    private var schedule: PaceSchedule
    /// When the first event was sent.
    private var origin: ContinuousClock.Instant?
    private var fed: Int64 = 0
    private var lastCreated = Timestamp(milliseconds: 0)
    /// What an interrupted process was about to publish: it is made again as it was.
    private var part: ReplayRun.Part?

    private typealias Counts = (leftOut: Int64, unreadable: Int64)

    init(
        options: ReplayOptions, stage: Stage, part: ReplayRun.Part?, onEvent: @escaping @Sendable (UploadEvent) -> Void,
        onProgress: @escaping @Sendable (WorkProgress) -> Void, isStopped: @escaping @Sendable () -> Bool
    ) {
        schedule = PaceSchedule(options.pace, maxGap: options.maxGap)
        self.onEvent = onEvent
        self.onProgress = onProgress
        self.options = options
        self.stage = stage
        self.part = part
        self.isStopped = isStopped
    }

    /// How far the sources were gone through.
    struct Fed: Sendable {
        let run: ReplayRun
        let report: ReplayReport
        let failure: (any Error)?
    }

    /// Feeds on a thread of its own: an event may be waited for while its source is being read.
    func feed(_ files: [ReplayFile], _ run: ReplayRun) async -> Fed {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "ferry.replay").async {
                var feeder = self
                var run = run
                var failure: (any Error)?
                do { try feeder.feed(files, &run) } catch { failure = error }
                continuation.resume(returning: Fed(run: run, report: feeder.stage.report, failure: failure))
            }
        }
    }

    private mutating func feed(_ files: [ReplayFile], _ run: inout ReplayRun) throws {
        onProgress(files.dropFirst(run.position.sources).beginning(.feeding))
        while run.position.sources < files.count, !isStopped() {
            let file = files[run.position.sources]
            do {
                let source = try opened(file, run.position)
                try feed(source, &run)
                stage.noteGrowth(of: source)
            } catch is StoppedError {
                return
            } catch let unreadable as UnreadableError {
                // One file that cannot be read does not end the others; what may pass ends the replay, which goes on there.
                switch stage.meaning(of: unreadable.error) {
                case .own(let error): throw error
                case .unread:
                    stage.noteUnread(file, unreadable.error)
                    return
                case .lasting: stage.noteDamage(file, unreadable.error)
                }
            }
            drop()
            part = nil
            try run.save(isDurable: false) { position in
                position.findings = ReplayFindings(stage.report)
                position.sources += 1
                position.lines = 0
                position.part = nil
            }
            onProgress(.done(file.size))
        }
    }

    private mutating func drop() {
        group = []
        groupEvents = 0
    }

    private struct StoppedError: Error {}

    private struct UnreadableError: Error { let error: any Error }

    private struct ChangedError: Error, CustomStringConvertible {
        let lines: Int64
        var description: String { "it changed after \(lines) of its events had been staged; the rest is left out" }
    }

    /// Opens a source. Lines that came since the replay began are behind those that are staged; what is staged must still be there, as
    /// ``ReplayRun/Part`` tells.
    private func opened(_ file: ReplayFile, _ position: ReplayRun.Position) throws(UnreadableError) -> OpenSource {
        do { return try OpenSource(file) } catch is SourceChangedError where position.lines > 0 || position.part != nil {
            throw UnreadableError(error: ChangedError(lines: position.lines))
        } catch {
            throw UnreadableError(error: error)
        }
    }

    /// Requires that the source has not changed. What an interrupted process had staged of a source must be made again as it was.
    private func requireSame(_ run: ReplayRun) throws(UnreadableError) {
        guard let part, let source = part.source, source.digest != digest.value else { return }
        throw UnreadableError(error: ChangedError(lines: run.position.lines.adding(part.events)))
    }

    private mutating func feed(_ source: OpenSource, _ run: inout ReplayRun) throws {
        let file = source.listed
        let first = run.position.lines
        var number: Int64 = 0
        var place: Int64 = 0
        digest = LineDigest()
        counts = (stage.report.leftOut, stage.report.unreadable)
        // Of the feeding, and not of the source.
        var failure: (any Error)?
        let reader = stage
        do {
            try reader.forEachEvent(source) { event in
                place += 1
                guard case .passes(let bytes, let time) = event else {
                    if number >= first { stage.count(event) }
                    return
                }
                defer { number += 1 }
                guard number >= first else { return digest.add(bytes) }
                do { try add(bytes, time, number, place, of: file, &run) } catch {
                    failure = error
                    throw error
                }
            }
        } catch {
            if let failure { throw failure }
            // What was read before is sound.
            try flush(file, &run)
            throw UnreadableError(error: error)
        }
        try flush(file, &run)
        // It has fewer lines than were staged.
        if part != nil { throw UnreadableError(error: ChangedError(lines: first)) }
        do { try source.requireOneContent() } catch { throw UnreadableError(error: error) }
    }

    /// Adds an event to those that are gathered.
    ///
    /// - Parameters:
    ///   - number: Its place among those of its source that pass, from 0.
    ///   - place: Its place among all, from 1.
    private mutating func add(
        _ bytes: [UInt8], _ time: Timestamp, _ number: Int64, _ place: Int64, of file: ReplayFile, _ run: inout ReplayRun
    ) throws {
        if isStopped() { throw StoppedError() }
        if groupEvents > 0, !belongs(time) { try flush(file, &run) }
        if groupEvents == 0 {
            groupTime = time
            groupLine = number
            groupPlace = place
            groupCounts = counts
        }
        counts = (stage.report.leftOut, stage.report.unreadable)
        digest.add(bytes)
        group += bytes
        group.append(10)
        groupEvents += 1
    }

    /// Returns whether an event leaves together with those that are gathered.
    private func belongs(_ time: Timestamp) -> Bool {
        if let part { return groupEvents < part.events }
        guard groupEvents < Self.largestGroup.events, group.count < Self.largestGroup.bytes else { return false }
        return switch options.pace {
        case .unlimited: true
        case .original(let factor): groupTime.map { (time - $0) / factor < Self.grain } ?? true
        case .rate(let rate): Double(groupEvents) < rate / Self.requestsPerSecond
        }
    }

    /// Publishes what is gathered when its moment has come.
    private mutating func flush(_ file: ReplayFile, _ run: inout ReplayRun) throws {
        guard groupEvents > 0, let time = groupTime else { return }
        try requireSame(run)
        let now = ContinuousClock.now
        let origin = origin ?? now
        self.origin = origin
        let due = origin + schedule.offset(of: time, after: fed)
        if due - now > Self.longestSilence, case .original = options.pace { tellWait(due - now, time, file, run) }
        try wait(until: due)
        // When the destination is slower than the pace, what waits keeps its order.
        lastCreated = part?.created ?? max(time, lastCreated + .milliseconds(1))
        part = nil
        try publish(file, &run)
        fed += groupEvents
        drop()
    }

    private func tellWait(_ wait: Duration, _ time: Timestamp, _ file: ReplayFile, _ run: ReplayRun) {
        onEvent(
            .warning(
                "event \(groupPlace) of \(file.path) has the time \(time.rfc3339): it is waited for \(wait.forPeople), until "
                    + "\((Timestamp.now() + wait).rfc3339); to shorten such gaps, end this and go on with ferry replay --resume \(run.id) "
                    + "--max-gap 1m"))
    }

    private func wait(until due: ContinuousClock.Instant) throws(StoppedError) {
        while true {
            let left = due - .now
            guard left > .zero else { return }
            let microseconds = min(left, Self.longestSleep).components.attoseconds / 1_000_000_000_000
            usleep(UInt32(microseconds) + 1)
            if isStopped() { throw StoppedError() }
        }
    }

    /// Publishes what is gathered. What it is called and holds is written down before, and made again by the process that goes on.
    private mutating func publish(_ file: ReplayFile, _ run: inout ReplayRun) throws {
        let segment = stage.name(for: file, created: lastCreated, lines: groupLine..<groupLine + groupEvents)
        // What is counted from here on is counted again by a process that goes on here.
        var findings = ReplayFindings(stage.report)
        (findings.leftOut, findings.unreadable) = groupCounts
        try run.save(isDurable: false) {
            $0.lines = groupLine
            $0.part = ReplayRun.Part(
                events: groupEvents, created: lastCreated,
                source: .init(size: file.size.bytes, modified: file.modified, digest: digest.value))
            $0.findings = findings
        }
        guard !stage.isStaged(segment) else { return }
        let publication = try run.spool.publication()
        var writer = try GzipWriter(file: publication.file, level: ReplayOptions.level)
        try group.withUnsafeBytes { try writer.write($0) }
        try writer.finish()
        _ = try publication.publish(as: segment.fileName, isDurable: false)
    }
}
