/// How much may wait in a spool, and for how long. Both limits are the user's; without them nothing is ever dropped.
public struct RetentionLimits: Equatable, Sendable {
    /// Pending segments and their sidecars together.
    public var maxBytes: ByteCount?
    /// Counted from the time in the segment's name, or a foreign file's modification; where the clock was behind that gave it, from the time that
    /// is known better (``OpenFile/dated``).
    public var maxAge: Duration?

    /// Creates limits; `nil` does not limit.
    public init(maxBytes: ByteCount? = nil, maxAge: Duration? = nil) {
        self.maxBytes = maxBytes
        self.maxAge = maxAge
    }

    /// Whether neither limit is set.
    package var isUnlimited: Bool { maxBytes == nil && maxAge == nil }

    /// Returns whether the age limit drops what was created then.
    ///
    /// - Parameter now: `nil` when the clock cannot be trusted: nothing is too old then.
    func isTooOld(_ created: Timestamp, at now: Timestamp?) -> Bool {
        guard let maxAge, let now else { return false }
        return created < now - maxAge && created >= Self.earliestCredibleTime
    }

    /// Earlier names come from machines whose clock was not set yet (they boot in 1970 or 2000): Ferry is younger. Their real
    /// age is unknown, so the age limit leaves them alone.
    package static let earliestCredibleTime = Timestamp(milliseconds: 1_577_836_800_000)  // 2020-01-01T00:00:00Z
}
