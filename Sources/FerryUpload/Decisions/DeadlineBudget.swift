import FerrySpool

/// Whether a request can still finish before a time-boxed delivery ends.
struct DeadlineBudget: Sendable {
    private let end: ContinuousClock.Instant
    private let margin: Duration
    /// Seconds that a request took, and bytes and events that it carried, recent ones counting more.
    private var seconds = 0.0
    private var bytes = 0.0
    private var events = 0.0
    private var slowest = 0.0

    /// Sensors Analytics' SDK flushes in the background only while at least 30 s remain.
    static let standardMargin = Duration.seconds(30)

    /// A smaller request fits into the buffers of two sockets: what it takes is the connection's time and the server's, and tells nothing of the
    /// link's pace.
    private static let smallestMeasure = ByteCount.kibibytes(64)

    /// - Parameters:
    ///   - time: From now to the deadline.
    ///   - margin: What must be left for a request to be started. By default 30 s, but no more than a quarter of the time.
    init(time: Duration, margin: Duration?, now: ContinuousClock.Instant = .now) {
        end = now + time
        self.margin = margin ?? min(Self.standardMargin, time / 4)
    }

    /// Whether the next request is to be started.
    ///
    /// - Parameters:
    ///   - size: Of the segment that is next.
    ///   - limits: What one request carries of it; `nil`: all.
    func allows(_ size: ByteCount, cutTo limits: RequestLimits? = nil, now: ContinuousClock.Instant = .now) -> Bool {
        let left = end - now
        guard left >= margin, left > .zero else { return false }
        // A request takes as long as the slowest of the recent ones, and its bytes as long as theirs did.
        let transfer = bytes > 0 ? load(of: size, cutTo: limits) * seconds / bytes : 0
        return max(slowest, transfer) <= left.inSeconds
    }

    /// How many bytes the next request carries at most, as far as the others tell how large an event is.
    private func load(of size: ByteCount, cutTo limits: RequestLimits?) -> Double {
        var most = Double(size.bytes)
        if let limit = limits?.bytes { most = min(most, Double(limit.bytes)) }
        if let limit = limits?.events, events > 0 { most = min(most, Double(limit) * bytes / events) }
        return most
    }

    /// A request has ended.
    ///
    /// - Parameter count: Its events.
    mutating func observe(_ size: ByteCount, events count: Int64, took time: Duration) {
        let weight = 0.8
        slowest = max(slowest * weight, time.inSeconds)
        guard size >= Self.smallestMeasure else { return }
        seconds = seconds * weight + time.inSeconds
        bytes = bytes * weight + Double(size.bytes)
        events = events * weight + Double(count)
    }
}
