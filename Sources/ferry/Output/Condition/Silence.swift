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
        let recent = recent(times)
        guard let first = recent.first, let last = recent.last else { return false }
        // Of one burst it cannot be told when the next is to come.
        guard recent.count >= leastTimes, last - first > tolerance else { return isExpected && now - last > longestUnusual }
        let longest = zip(recent, recent.dropFirst()).map { $1 - $0 }.max() ?? .zero
        return now - last > max(longest * 2, tolerance)
    }

    /// Returns the last times, or the last bursts: one of a hundred each night is no machine that sends all the time.
    private static func recent(_ times: [Timestamp]) -> ArraySlice<Timestamp> {
        var start = max(0, times.count - mostTimes)
        var bursts = zip(times[start...], times[start...].dropFirst()).count { $1 - $0 > tolerance }
        while start > 0, bursts < leastTimes {
            start -= 1
            if times[start + 1] - times[start] > tolerance { bursts += 1 }
        }
        return times[start...]
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
