import FerrySpool

/// Whether a request can still finish before a time-boxed delivery ends.
struct DeadlineBudget: Sendable {
    private let end: ContinuousClock.Instant
    private let margin: Duration
    /// Seconds that a request took, and bytes that it carried, recent ones counting more.
    private var seconds = 0.0
    private var bytes = 0.0
    private var slowest = 0.0

    /// Sensors Analytics' SDK flushes in the background only while at least 30 s remain.
    static let standardMargin = Duration.seconds(30)

    /// - Parameters:
    ///   - time: From now to the deadline.
    ///   - margin: What must be left for a request to be started. By default 30 s, but no more than a quarter of the time.
    init(time: Duration, margin: Duration?, now: ContinuousClock.Instant = .now) {
        end = now + time
        self.margin = margin ?? min(Self.standardMargin, time / 4)
    }

    func allows(_ size: ByteCount, now: ContinuousClock.Instant = .now) -> Bool {
        let left = end - now
        guard left >= margin, left > .zero else { return false }
        // A request takes as long as the slowest of the recent ones, and its bytes as long as theirs did.
        let transfer = bytes > 0 ? Double(size.bytes) * seconds / bytes : 0
        return max(slowest, transfer) <= left.inSeconds
    }

    mutating func observe(_ size: ByteCount, took time: Duration) {
        let weight = 0.8
        seconds = seconds * weight + time.inSeconds
        bytes = bytes * weight + Double(size.bytes)
        slowest = max(slowest * weight, time.inSeconds)
    }
}
