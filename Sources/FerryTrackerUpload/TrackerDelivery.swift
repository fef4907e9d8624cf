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

    /// - Parameters:
    ///   - options: Where to send, and how. The limits of the spool are the tracker's.
    ///   - onEvent: Called from any thread.
    public init(
        _ tracker: EventTracker, _ options: UploadOptions, onEvent: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) throws(UploadError) {
        self.tracker = tracker
        self.options = options
        let rules = tracker.configuration.delivery
        let schedule = SchedulePolicy(interval: rules.interval, events: rules.threshold, criticalDelay: rules.criticalDelay)
        runner = try Runner(
            [SpoolPlace(tracker.spool.path)], options: RunOptions(upload: options, schedule: schedule), onEvent: onEvent)
    }

    /// Sends by the rules of ``TrackerConfiguration/delivery``, until ``stop()``. Cancelling the task cuts off what is under way; it stays
    /// pending.
    public func run() async { await runner.run() }

    /// Finishes what is under way and ends ``run()``.
    public func stop() { runner.stop() }

    /// Sends everything that was tracked, whatever was to be waited for.
    public func flush() async -> FlushResult { await flush { _ in } }

    /// Sends for as long as the time allows; nothing is started that is not likely to arrive in time.
    ///
    /// - Parameter deadline: From now. What is under way then is cut off and stays pending.
    public func flush(deadline: Duration) async -> FlushResult { await flush { $0.deadline = deadline } }

    private func flush(_ change: (inout UploadOptions) -> Void) async -> FlushResult {
        var options = options
        options.ignoresWaits = true
        change(&options)
        do {
            try await tracker.publish()
            let spool = tracker.spool
            let isEmpty = try spool.scan().entries.isEmpty
            let report = try await UploadPass(spool, options: options).run()
            let result = FlushResult(report)
            // What was there and is gone was sent by somebody else, ``run()`` perhaps.
            return result == .noData && !isEmpty ? .sent(more: report.remaining > 0) : result
        } catch {
            return .failed
        }
    }
}
