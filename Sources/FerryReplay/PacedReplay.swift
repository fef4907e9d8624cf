import FerrySpool
import FerryUpload
import Synchronization

/// Sends events at the pace that they once had, or at a fixed rate: a feeder publishes each group of events at its moment, and a runner
/// sends it as it appears.
struct PacedReplay {
    private let options: ReplayOptions
    private let onEvent: @Sendable (UploadEvent) -> Void

    init(_ options: ReplayOptions, onEvent: @escaping @Sendable (UploadEvent) -> Void) {
        self.options = options
        self.onEvent = onEvent
    }

    /// Events that are closer than this leave together.
    private static let grain = Duration.milliseconds(2)
    /// A gap may be of days; a wish to stop is noticed within this time.
    private static let longestSleep = Duration.milliseconds(100)
    /// At a fixed rate so many requests a second at most.
    private static let requestsPerSecond = 50.0

    private final class Totals: Sendable {
        let report = Mutex(ReplayReport())

        func count(_ event: UploadEvent) {
            report.withLock { report in
                switch event {
                case .sent(let entry):
                    report.sent += 1
                    report.sentBytes += entry.bytes
                    report.sentEvents.add(entry.events ?? 0)
                case .rejected: report.rejected += 1
                case .split, .backsOff, .warning: break
                }
            }
        }
    }

    func run(
        _ files: [ReplayFile], _ run: inout ReplayRun, _ filter: EventFilter, _ start: ReplayReport,
        isStopped: @escaping @Sendable () -> Bool
    ) async throws -> ReplayReport {
        let totals = Totals()
        // What an earlier process had published.
        let earlier = Int64(try run.spool.scan().entries.count)
        let onEvent = onEvent
        let schedule = SchedulePolicy(interval: .seconds(60), events: 1)
        let runner = try Runner(
            [SpoolPlace(run.spool.path)], options: RunOptions(upload: options.uploadOptions(run), schedule: schedule),
            onEvent: { event in
                guard case .upload(_, let event) = event else { return }
                totals.count(event)
                onEvent(event)
            })
        var feeder = Feeder(
            options: options, stage: try Stage(run, options, filter, start), part: run.position.part, isStopped: isStopped)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await runner.run() }
            defer { runner.stop() }
            // The first event's moment is when the runner is ready for it.
            while runner.snapshot().spools.isEmpty, !isStopped() { try await Task.sleep(for: .milliseconds(1)) }
            try await feeder.feed(files, &run)
            let fed = feeder.groups + earlier
            try await wait(for: runner, isStopped) { totals.report.withLock { $0.sent + Int64($0.rejected) } >= fed }
        }
        var report = feeder.stage.report
        let sent = totals.report.withLock { $0 }
        report.sourcesDone = run.position.sources
        report.sent = sent.sent
        report.sentBytes = sent.sentBytes
        report.sentEvents = sent.sentEvents
        report.rejected = sent.rejected
        report.remaining = try run.spool.scan().entries.count
        return report
    }

    /// Waits for what was fed, for as long as the destination is well.
    private func wait(for runner: Runner, _ isStopped: () -> Bool, until isDone: () -> Bool) async throws {
        while !isDone(), !isStopped(), runner.snapshot().spools.first?.blocker == nil {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Reads the sources and publishes their events in time.
    private struct Feeder {
        let options: ReplayOptions
        var stage: Stage
        let isStopped: @Sendable () -> Bool
        private var group: [UInt8] = []
        private var groupEvents: Int64 = 0
        private var groupTime: Timestamp?
        private var groupLine: Int64 = 0
        /// The time of the first event, and when it was sent.
        private var origin: (event: Timestamp, at: ContinuousClock.Instant)?
        private var fed: Int64 = 0
        private var lastCreated = Timestamp(milliseconds: 0)
        /// What an interrupted process was about to publish: it is made again as it was.
        private var part: ReplayRun.Part?
        /// Segments that were published.
        private(set) var groups: Int64 = 0

        init(options: ReplayOptions, stage: Stage, part: ReplayRun.Part?, isStopped: @escaping @Sendable () -> Bool) {
            self.options = options
            self.stage = stage
            self.part = part
            self.isStopped = isStopped
        }

        mutating func feed(_ files: [ReplayFile], _ run: inout ReplayRun) async throws {
            while run.position.sources < files.count, !isStopped() {
                let file = files[run.position.sources]
                do {
                    try await feed(try asItIs(file, run.position), &run)
                } catch let unreadable as Unreadable {
                    // One file that cannot be read does not end the others; what may pass ends the replay, which goes on there.
                    switch stage.meaning(of: unreadable.error) {
                    case .own(let error): throw error
                    case .unread:
                        stage.noteUnread(file, unreadable.error)
                        return
                    case .lasting: stage.noteDamage(file, unreadable.error)
                    }
                }
                if isStopped() { return }
                part = nil
                try run.save(isDurable: false) { position in
                    position.sources += 1
                    position.lines = 0
                    position.part = nil
                }
            }
        }

        private struct Unreadable: Error { let error: any Error }

        private struct Changed: Error, CustomStringConvertible {
            let lines: Int64
            var description: String { "it changed after \(lines) of its events had been staged; the rest is left out" }
        }

        /// A source that has changed since it was listed is another one; what is begun cannot go on in it.
        private func asItIs(_ file: ReplayFile, _ position: ReplayRun.Position) throws(Unreadable) -> ReplayFile {
            let current: ReplayFile
            do throws(FileError) { current = try file.asItIs() } catch { throw Unreadable(error: error) }
            guard current == file || (position.lines == 0 && position.part == nil) else {
                throw Unreadable(error: Changed(lines: position.lines))
            }
            return current
        }

        private mutating func feed(_ file: ReplayFile, _ run: inout ReplayRun) async throws {
            var next = max(0, run.position.lines)
            var count = 0
            repeat {
                let lines: [Line]
                do { lines = try read(file, from: next) } catch { throw Unreadable(error: error) }
                for line in lines {
                    if isStopped() { break }
                    try await add(line, of: file, &run)
                }
                if isStopped() { return }
                try await flush(file, &run)
                next += Int64(lines.count)
                count = lines.count
            } while count == Self.linesInMemory
        }

        private struct Line {
            let bytes: [UInt8]
            let time: Timestamp
            /// Its place among those of its source that pass.
            let number: Int64
        }

        /// As many as are held at once; of a longer source the beginning is passed over again for what follows.
        private static let linesInMemory = 20_000

        private struct Enough: Error {}

        private mutating func read(_ file: ReplayFile, from start: Int64) throws -> [Line] {
            var lines: [Line] = []
            var number: Int64 = 0
            do {
                try stage.forEachPassing(file) { bytes, time in
                    if number >= start { lines.append(Line(bytes: bytes, time: time, number: number)) }
                    number += 1
                    if lines.count == Self.linesInMemory { throw Enough() }
                }
            } catch is Enough {}
            return lines
        }

        private mutating func add(_ line: Line, of file: ReplayFile, _ run: inout ReplayRun) async throws {
            let time = line.time
            if groupEvents > 0, !belongs(time) { try await flush(file, &run) }
            if groupEvents == 0 {
                groupTime = time
                groupLine = line.number
            }
            group += line.bytes + [10]
            groupEvents += 1
        }

        /// Whether an event leaves together with those that are gathered.
        private func belongs(_ time: Timestamp) -> Bool {
            if let part { return groupEvents < part.events }
            return switch options.pace {
            case .unlimited: true
            case .original(let factor): groupTime.map { (time - $0) / factor < PacedReplay.grain } ?? true
            case .rate(let rate): Double(groupEvents) < rate / PacedReplay.requestsPerSecond
            }
        }

        /// Publishes what is gathered when its moment has come.
        private mutating func flush(_ file: ReplayFile, _ run: inout ReplayRun) async throws {
            guard groupEvents > 0, let time = groupTime else { return }
            let now = ContinuousClock.now
            let origin = origin ?? (time, now)
            self.origin = origin
            let offset: Duration =
                switch options.pace {
                case .unlimited: .zero
                case .original(let factor): (time - origin.event) / factor
                case .rate(let rate): .seconds(Double(fed) / rate)
                }
            // An event may claim to be of any year.
            let due = origin.at + min(offset, .century)
            guard try await wait(until: due) else { return }
            // When the destination is slower than the pace, what waits keeps its order.
            lastCreated = part?.created ?? max(time, lastCreated + .milliseconds(1))
            part = nil
            try publish(file, &run)
            fed += groupEvents
            group = []
            groupEvents = 0
        }

        /// - Returns: `false` when the replay is stopped before that moment.
        private func wait(until due: ContinuousClock.Instant) async throws -> Bool {
            while due > .now {
                let next = min(due, .now + PacedReplay.longestSleep)
                try await Task.sleep(until: next, tolerance: .zero, clock: .continuous)
                if isStopped() { return false }
            }
            return true
        }

        /// Publishes what is gathered. What it is called and holds is written down before, and made again by the process that goes on.
        private mutating func publish(_ file: ReplayFile, _ run: inout ReplayRun) throws {
            let segment = stage.name(for: file, created: lastCreated, lines: groupLine..<groupLine + groupEvents)
            try run.save(isDurable: false) {
                $0.lines = groupLine
                $0.part = ReplayRun.Part(events: groupEvents, created: lastCreated)
            }
            guard !stage.isStaged(segment) else { return }
            let publication = try run.spool.publication()
            var writer = try GzipWriter(file: publication.file, level: ReplayOptions.level)
            try group.withUnsafeBytes { try writer.write($0, events: groupEvents) }
            try writer.finish()
            if try publication.publish(as: segment.fileName, isDurable: false) { groups += 1 }
        }
    }
}
