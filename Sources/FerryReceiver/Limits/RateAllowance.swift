import FerrySpool

/// How much a machine may still send: what it sends is owed, and paid off at its rate.
struct RateAllowance: Sendable {
    /// Bytes, below 0 what is owed.
    private var left: Double
    private var last: ContinuousClock.Instant

    /// How many seconds of its rate a machine that was silent may send at once.
    private static let burst = 10.0

    init(_ rate: ByteCount, at now: ContinuousClock.Instant) {
        left = Double(rate.bytes) * Self.burst
        last = now
    }

    /// Returns how long a machine must wait before its next request; `nil`: not at all. A request that has begun is taken whole.
    mutating func wait(_ rate: ByteCount, at now: ContinuousClock.Instant) -> Duration? {
        let gained = max(0, (now - last) / .seconds(1)) * Double(rate.bytes)
        left = min(left + gained, Double(rate.bytes) * Self.burst)
        last = max(last, now)
        return left < 0 ? min(.seconds(-left / Double(rate.bytes)), Self.longest) : nil
    }

    mutating func charge(_ bytes: Int) { left -= Double(bytes) }

    private static let longest = Duration.seconds(86_400)
}
