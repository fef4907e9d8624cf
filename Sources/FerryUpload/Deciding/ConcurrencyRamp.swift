import FerrySpool

/// How many requests may be under way at once: grows with successes, falls with errors and when answers slow down.
struct ConcurrencyRamp: Equatable, Sendable {
    /// The most that the user allows.
    let limit: Int
    private(set) var window: Int
    /// How fast the destination answers when it is not pressed.
    private var baseline: Double?
    /// How fast it answers now.
    private var recent: Double?
    /// Answers to what was under way at the last fall: they say nothing of the new window.
    private var stale = 0

    /// Slower than this many times the baseline is pressed: queueing theory has the waiting time equal the service time at half load.
    private static let tolerance = 2.0
    /// Differences below this are the machines' own noise.
    private static let noise = 0.02
    /// The baseline follows a path that has become slower for good, by this factor an answer.
    private static let drift = 1.01
    /// The weight of the newest answer.
    private static let weight = 0.25

    /// - Parameter isRecovering: Whether to begin with one at a time: after an outage all senders come back at once.
    init(limit: Int, isRecovering: Bool) {
        self.limit = max(1, limit)
        window = isRecovering ? 1 : self.limit
    }

    /// Widens the window after a success, or halves it when answers slow down.
    ///
    /// - Parameter latency: From the last byte of the request to the answer; `nil` when unknown.
    mutating func succeeded(_ latency: Duration?) {
        stale = max(0, stale - 1)
        if let seconds = latency?.inSeconds, isSlow(after: seconds) {
            guard stale == 0 else { return }
            stale = window
            window = max(1, window / 2)
        } else {
            window = min(limit, window * 2)
        }
    }

    mutating func failed() {
        stale = window
        window = 1
    }

    private mutating func isSlow(after seconds: Double) -> Bool {
        let now = recent.map { $0 + (seconds - $0) * Self.weight } ?? seconds
        let unpressed = baseline.map { min(seconds, $0 * Self.drift) } ?? seconds
        (recent, baseline) = (now, unpressed)
        return now > unpressed * Self.tolerance + Self.noise
    }
}
