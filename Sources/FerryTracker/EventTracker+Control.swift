import FerrySpool
import Glibc

extension EventTracker {
    /// Whether events are stored. Obeyed by every program that uses the spool, and after the next start.
    public var isEnabled: Bool { !isForked && !control.isDisabled }

    /// Whether what is stored waits, until ``setPaused(_:)`` is called with `false`.
    public var isPaused: Bool { !isForked && control.isPaused }

    private var control: SpoolControl { (try? recorder.spool.control.read()) ?? state.withLock(\.control) }

    /// Stops storing, or starts again. What is stored stays, unless it is to be deleted.
    ///
    /// - Parameters:
    ///   - isEnabled: Whether to store. Right after a deletion the call waits until other trackers have obeyed that, 1.5 s at most.
    ///   - deletingStored: When disabling: also delete what waits in the spool, also of other programs. Each segment is a line in the ledger.
    public func setEnabled(_ isEnabled: Bool, deletingStored: Bool = false) throws(TrackerError) {
        let now = now().wall
        if isEnabled, let control = try? recorder.spool.control.read() {
            usleep(useconds_t(clamping: control.waitAfterDeletion(at: now).wholeMilliseconds * 1000))
        }
        try change { control in
            control.isDisabled = !isEnabled
            if !isEnabled, deletingStored { control.deletesBefore = recorder.spool.clock.dateSegment(now).created }
        }
        guard !isEnabled, deletingStored else { return }
        do throws(FileError) {
            try publisher.publishAll()
            let spool = recorder.spool
            // What dead programs left in journals; the living obey within a second.
            _ = try spool.housekeeping.recover(level: configuration.level)
            _ = try spool.retention.dropDisabled(before: .distantFuture, at: now)
        } catch {
            throw .file(error)
        }
    }

    /// Stops sending, or starts again; events are stored all the same.
    public func setPaused(_ isPaused: Bool) throws(TrackerError) { try change { $0.isPaused = isPaused } }

    private func change(_ body: (inout SpoolControl) -> Void) throws(TrackerError) {
        try refuseFork()
        do throws(FileError) {
            let control = try recorder.spool.control.change(at: now().wall, body)
            state.withLock { $0.control = control }
        } catch {
            throw .file(error)
        }
    }

    /// At the latest so long after its first event a segment is published; zero or negative: only by a flush.
    public var interval: Duration { isForked ? configuration.batch.interval : recorder.interval }

    /// Changes the interval. What is stored is flushed first, as in Sensors Analytics' SDK.
    ///
    /// - Throws: ``TrackerError/intervalIsFixed`` with App Center's profile, ``TrackerError/interval(_:)``, or the flush's failure.
    public func setInterval(_ interval: Duration) async throws(TrackerError) {
        try change(interval: interval)
        try await flush()
    }

    /// Sets the interval, as ``setInterval(_:)``, for code without tasks. The calling thread waits for the disk.
    public func setIntervalAndWait(_ interval: Duration) throws(TrackerError) {
        try change(interval: interval)
        try flushAndWait()
    }

    private func change(interval: Duration) throws(TrackerError) {
        try refuseFork()
        let rule = configuration.intervalRule
        guard rule.change == .flushes else { throw .intervalIsFixed }
        do throws(IntervalError) { try recorder.setInterval(rule.bounds.bounded(interval)) } catch { throw .interval(error) }
        for follow in state.withLock(\.intervalFollowers) { follow(recorder.interval) }
    }

    /// Calls `follow` with each interval that is set from now on: for what sends in this process.
    package func followInterval(_ follow: @escaping @Sendable (Duration) -> Void) {
        state.withLock { $0.intervalFollowers.append(follow) }
    }
}
