import FerrySpool
import FerryUpload
import Synchronization

/// Sends events at the pace that they once had, or at a fixed rate: a feeder publishes each group of events at its moment, and a runner
/// sends it as it appears.
struct PacedReplay {
    private let options: ReplayOptions
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let onProgress: @Sendable (WorkProgress) -> Void

    init(
        _ options: ReplayOptions, onEvent: @escaping @Sendable (UploadEvent) -> Void,
        onProgress: @escaping @Sendable (WorkProgress) -> Void
    ) {
        self.options = options
        self.onEvent = onEvent
        self.onProgress = onProgress
    }

    /// A runner that is not ready by then gets its segments later.
    private static let longestStart = Duration.seconds(10)

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

    /// Sends at the pace until everything is published, or the replay is stopped. The last of it may not be sent yet.
    func run(
        _ files: [ReplayFile], _ run: inout ReplayRun, _ filter: EventFilter, _ start: ReplayReport,
        isStopped: @escaping @Sendable () -> Bool
    ) async throws -> ReplayReport {
        let totals = Totals()
        let onEvent = onEvent
        let schedule = SchedulePolicy(interval: .seconds(60), events: 1)
        let runner = try Runner(
            [SpoolPattern(run.spool.path)], options: RunOptions(upload: options.uploadOptions(run), schedule: schedule),
            onEvent: { event in
                guard case .upload(_, let event) = event else { return }
                totals.count(event)
                onEvent(event)
            })
        let feeder = PacedFeeder(
            options: options, stage: try Stage(run, options, filter, start), part: run.position.part, onEvent: onEvent,
            onProgress: onProgress, isStopped: isStopped)
        let fed = await withTaskGroup(of: Void.self) { [run] group in
            group.addTask { await runner.run() }
            defer { runner.stop() }
            // The first event's moment is when the runner is ready for it.
            let latest = ContinuousClock.now + Self.longestStart
            while runner.snapshot().spools.isEmpty, !isStopped(), .now < latest { try? await Task.sleep(for: .milliseconds(1)) }
            return await feeder.feed(files, run)
        }
        run = fed.run
        if let failure = fed.failure { throw failure }
        var report = fed.report
        let sent = totals.report.withLock { $0 }
        report.sourcesDone = run.position.sources
        report.sent = sent.sent
        report.sentBytes = sent.sentBytes
        report.sentEvents = sent.sentEvents
        report.rejected = sent.rejected
        return report
    }
}
