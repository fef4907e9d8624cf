import FerrySpool

/// Whether a machine has been silent for longer than usual.
enum Silence {
    /// Fewer say nothing of what is usual.
    private static let leastTimes = 6
    /// What is older says little of now.
    private static let mostTimes = 100
    /// Shorter pauses are not reported.
    private static let tolerance = Duration.seconds(300)

    /// - Parameter times: When segments were opened, ascending.
    static func isUnusual(_ times: [Timestamp], now: Timestamp) -> Bool {
        let recent = times.suffix(mostTimes)
        guard recent.count >= leastTimes, let last = recent.last else { return false }
        let longest = zip(recent, recent.dropFirst()).map { $1 - $0 }.max() ?? .zero
        return now - last > max(longest * 2, tolerance)
    }
}
