import FerrySpool
public import FerryTracker
public import FerryUpload

/// Sends what a tracker stores, from within the tracker's process.
///
/// ```swift
/// let delivery = try TrackerDelivery(tracker, UploadOptions(destination: try DestinationURL("https://hub.example/v1/segments")))
/// try await withThrowingTaskGroup(of: Void.self) { group in
///     group.addTask { await delivery.run() }
///     try await work()
///     _ = await delivery.flush(deadline: .seconds(10))
///     group.cancelAll()
/// }
/// ```
///
/// The folder stays the whole truth: `ferry run` and `ferry upload` may send from the same spool at the same time.
public final class TrackerDelivery: Sendable {
    private let tracker: EventTracker
    private let options: UploadOptions
    private let runner: Runner

    /// Creates the delivery of what a tracker stores.
    ///
    /// Refused segments and a failing destination are also reported to `TrackerConfiguration.onWarning`, once for each time that it begins.
    ///
    /// - Parameters:
    ///   - options: Where to send, and how. The limits of the spool are the tracker's.
    ///   - onEvent: Called from any thread.
    public init(
        _ tracker: EventTracker, _ options: UploadOptions, onEvent: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) throws(UploadError) {
        self.tracker = tracker
        self.options = options
        let rules = tracker.configuration.delivery
        // It may have been changed since the tracker was opened.
        let interval = tracker.interval == tracker.configuration.batch.interval ? rules.interval : tracker.interval
        let schedule = SchedulePolicy(interval: interval, events: rules.threshold, criticalDelay: rules.criticalDelay)
        var runOptions = RunOptions(upload: options, schedule: schedule)
        runOptions.sentRetention = options.sentRetention
        let warn = tracker.configuration.onWarning
        let runner = try Runner(
            [SpoolPattern(tracker.spool.path)], options: runOptions,
            onEvent: { event in
                if let text = Self.warning(event) { warn(.sending(text)) }
                onEvent(event)
            })
        self.runner = runner
        tracker.followInterval { [weak runner] in runner?.setInterval($0) }
    }

    /// Sends by the rules of `TrackerConfiguration.delivery`, until ``stop()``. Cancelling the task cuts off what is under way; it stays
    /// pending.
    public func run() async { await runner.run() }

    /// Finishes what is under way and ends ``run()``.
    public func stop() { runner.stop() }

    /// Sends everything that was tracked and waits for nothing first.
    public func flush() async -> FlushResult { await flush(until: nil) }

    /// Sends for as long as the time allows; nothing is started that is not likely to arrive in time.
    ///
    /// - Parameter deadline: From now. What is under way then is cut off and stays pending.
    public func flush(deadline: Duration) async -> FlushResult { await flush(until: .now + deadline) }

    /// Publishes and sends what is stored. What cannot be published keeps nothing else from being sent. On a full disk what is sent makes room for
    /// it, and it is tried again.
    private func flush(until end: ContinuousClock.Instant?) async -> FlushResult {
        var hasSent = false
        while true {
            let failure = await publish()
            if failure == .forked { return .failed }
            let (result, madeRoom) = await takeTurn(until: end)
            if case .sent = result { hasSent = true }
            guard let failure else { return result == .noData && hasSent ? .sent(more: false) : result }
            guard case .file(let error) = failure, error.isDiskFull, madeRoom, result != .failed else {
                return hasSent && result != .failed ? .sent(more: true) : .failed
            }
        }
    }

    private static func warning(_ event: RunEvent) -> String? {
        switch event {
        case .upload(_, .rejected(let entry)):
            "\(entry.segment) is rejected: \(entry.detail ?? ""); ferry retry brings it back"
        case .blocked(let spool, .destinationWaits(_, let why)?), .blocked(let spool, .misconfigured(_, let why)?),
            .blocked(let spool, .off(let why)?):
            "nothing is sent from \(spool) for now: \(why)"
        default: nil
        }
    }

    private func publish() async -> TrackerError? {
        do throws(TrackerError) { try await tracker.publish() } catch { return error }
        return nil
    }

    /// Sends what is published, in the turn of ``run()``: together they would make more requests at once than the options say, and in no order.
    private func takeTurn(until end: ContinuousClock.Instant?) async -> (result: FlushResult, madeRoom: Bool) {
        // Before the look: what ``run()`` ends from here on is noticed.
        let before = runner.endings
        let wasStored = ((try? tracker.spool.scan().entries.isEmpty) ?? true) == false
        guard let (result, madeRoom) = await runner.whileQuiet(until: end, { await send(until: end, since: before) }) else {
            // ``run()`` is still at it.
            return (runner.endings.deliveries == before.deliveries ? .failed : .sent(more: true), false)
        }
        return (result == .noData && wasStored ? fateOfGone(since: before, more: false) : result, madeRoom)
    }

    /// Returns what became of what was there and is gone: ``run()`` has sent it since, or another process; or ``run()`` could but reject it.
    private func fateOfGone(since before: EndingCounts, more: Bool) -> FlushResult {
        let now = runner.endings
        let isRejected = now.deliveries == before.deliveries && now.rejections != before.rejections
        return isRejected ? .failed : .sent(more: more)
    }

    /// Sends what is published once, journals of dead writers included.
    ///
    /// - Parameter before: What ``run()`` had delivered when the program asked.
    private func send(until end: ContinuousClock.Instant?, since before: EndingCounts) async -> (
        result: FlushResult, madeRoom: Bool
    ) {
        var options = options
        options.ignoresWaits = true
        options.timeLimit = end.map { max(.zero, $0 - .now) }
        let spool = tracker.spool
        var wasTaken = false
        let warn: @Sendable (UploadEvent) -> Void = { [warn = tracker.configuration.onWarning] event in
            if let text = Self.warning(.upload(spool: spool.path, event)) { warn(.sending(text)) }
        }
        do {
            let unfinished = await blocking { (try? spool.housekeeping.recover())?.problems ?? [] }
            let count = try spool.scan().entries.count
            var report = try await UploadPass(spool, options: options, unfinished: unfinished, onEvent: warn).run()
            // What others are sending, ``run()`` perhaps, has not arrived yet, and is ours to send when they fail.
            while report.taken > 0, FlushResult(report) != .failed, let end, ContinuousClock.now + Self.takenLook < end {
                wasTaken = true
                try await Task.sleep(for: Self.takenLook)
                options.timeLimit = max(.zero, end - .now)
                let (sent, parts, rejected) = (report.sent.segments, report.partEvents, report.rejectedPartEvents)
                report = try await UploadPass(spool, options: options).run()
                report.sent.segments += sent
                report.partEvents += parts
                report.rejectedPartEvents += rejected
            }
            var result = FlushResult(report, beside: runner.endings.deliveries != before.deliveries)
            if result == .failed, let why = report.stopReason?.reason?.message {
                tracker.configuration.onWarning(.sending("nothing is sent from \(spool.path) for now: \(why)"))
            }
            if report.taken > 0, result != .failed { result = .sent(more: true) }
            if wasTaken, result == .noData { result = .sent(more: false) }
            let madeRoom = try spool.scan().entries.count < count
            return (result == .noData && count > 0 ? fateOfGone(since: before, more: report.remaining > 0) : result, madeRoom)
        } catch {
            return (.failed, false)
        }
    }

    private static let takenLook = Duration.milliseconds(100)
}
