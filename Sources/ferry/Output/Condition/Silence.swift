import FerrySpool

/// Whether a machine has been silent for longer than usual.
enum Silence {
    /// Fewer say nothing of what is usual.
    private static let leastTimes = 6
    /// What is older says little of now.
    private static let mostTimes = 100
    /// Shorter pauses are not reported.
    private static let tolerance = Duration.seconds(300)
    /// How long a machine may be silent that sent too seldom to tell what is usual.
    private static let longestUnusual = Duration.seconds(7 * 86_400)
    /// How long a machine that was added may take until it sends for the first time.
    static let patienceAtFirst = Duration.seconds(86_400)

    /// - Parameters:
    ///   - times: When segments were opened, ascending.
    ///   - isExpected: It is a machine that was added to a hub: something is to come from it.
    static func isUnusual(_ times: [Timestamp], now: Timestamp, isExpected: Bool = false) -> Bool {
        let recent = times.suffix(mostTimes)
        guard let last = recent.last else { return false }
        guard recent.count >= leastTimes else { return isExpected && now - last > longestUnusual }
        let longest = zip(recent, recent.dropFirst()).map { $1 - $0 }.max() ?? .zero
        return now - last > max(longest * 2, tolerance)
    }

    /// Returns the same of a machine of which nothing has come yet.
    ///
    /// - Parameter since: When it was added.
    static func isUnusual(neverSince since: Timestamp, now: Timestamp) -> Bool { now - since > patienceAtFirst }
}

extension SpoolSender {
    /// How long a sender is missed. It may have been set up anew, with another ID.
    private static let missed = Duration.seconds(7 * 86_400)

    /// Returns whether it has been silent for longer than usual, and not for so long that it may be gone for good.
    func isSilent(at now: Timestamp) -> Bool {
        guard let last, now - last <= Self.missed else { return false }
        return Silence.isUnusual(times.sorted(), now: now)
    }
}
