import FerrySpool

/// When events are due, counted from the first one.
struct PaceSchedule {
    private let pace: ReplayOptions.Pace
    private let longestGap: Duration
    private var last: Timestamp?
    private var elapsed = Duration.zero

    init(_ pace: ReplayOptions.Pace, maxGap: Duration?) {
        self.pace = pace
        // An event may claim to be of any year.
        longestGap = min(maxGap ?? .century, .century)
    }

    /// Returns how long after the first event an event is due; zero without a pace.
    ///
    /// - Parameter events: How many were sent before.
    mutating func offset(of time: Timestamp, after events: Int64) -> Duration {
        switch pace {
        case .unlimited: return .zero
        case .rate(let rate): return min(.seconds(Double(events) / rate), .century)
        case .original(let factor):
            // The way back from an odd time is as long as the way there: events behind it keep their gaps.
            let gap = last.map { (time - $0) / factor } ?? .zero
            last = time
            elapsed = max(elapsed + max(min(gap, longestGap), .zero - longestGap), .zero - .century)
            return elapsed
        }
    }
}
