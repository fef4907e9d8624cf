import FerrySpool

/// How fast work goes, by what was done in the last half minute: what was long ago tells nothing of a network that is slower now.
struct RecentRate: Sendable {
    private struct Look {
        var after = Duration.zero
        var done = ProgressLine.Amount()
    }

    private static let window = Duration.seconds(30)
    /// Looks come some times a second, and not all are kept.
    private static let grain = Duration.seconds(1)

    private var kept = [Look()]
    private var latest = Look()

    /// Notes how much was done by then.
    mutating func note(_ done: ProgressLine.Amount, after elapsed: Duration) {
        latest = Look(after: elapsed, done: done)
        if let last = kept.last, elapsed - last.after >= Self.grain { kept.append(latest) }
        while kept.count > 1, elapsed - kept[1].after >= Self.window { kept.removeFirst() }
    }

    /// Bytes in a second; `nil` before there was a second.
    var bytes: ByteCount? { perSecond(\.bytes.bytes).map { ByteCount(Int64(min($0, 9e18))) } }

    /// Returns how long the rest takes; `nil` while that cannot be told: nothing was done in the last half minute.
    func left(of total: ProgressLine.Amount) -> Duration? {
        let way = total.bytes > .zero ? \ProgressLine.Amount.bytes.bytes : \.count
        let rest = total[keyPath: way].subtracting(latest.done[keyPath: way])
        guard rest > 0, let rate = perSecond(way), rate > 0 else { return nil }
        return .seconds(Int64(min(Double(rest) / rate, Self.longest).rounded(.up)))
    }

    private static let longest = 1e9

    private func perSecond(_ way: KeyPath<ProgressLine.Amount, Int64>) -> Double? {
        let time = latest.after - kept[0].after
        guard time >= Self.grain else { return nil }
        return max(0, Double(latest.done[keyPath: way].subtracting(kept[0].done[keyPath: way]))) / time.inSeconds
    }
}
