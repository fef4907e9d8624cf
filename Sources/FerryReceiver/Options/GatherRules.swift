public import FerrySpool

/// Which segments a receiver gathers into larger ones, and for how long.
public struct GatherRules: Equatable, Sendable {
    /// A gathered segment becomes pending at this size.
    public var size: ByteCount
    /// How long after its first one came it becomes pending at the latest.
    public var patience: Duration

    /// Creates rules; a segment waits for 10 seconds at most unless another time is given.
    public init(size: ByteCount, patience: Duration = .seconds(10)) {
        self.size = size
        self.patience = patience
    }

    /// Returns whether a segment is gathered. One of half the size or more stays by itself, and so do a critical one, which is not to wait, and one
    /// that has a wrong clock's time.
    func takes(_ bytes: ByteCount, inflated: ByteCount, _ priority: Priority, hasClockReading: Bool) -> Bool {
        !hasClockReading && priority > .critical && bytes < ByteCount(size.bytes / 2)
            && inflated < ByteCount(mostInflated.bytes / 2)
    }

    /// What one inflates to at most: what came in parts must not be refused as a whole.
    private(set) var mostInflated = ByteCount.mebibytes(256)

    /// Returns them for a receiver that inflates a segment to `inflateLimit` at most: one with the same limit that gets what is gathered is far from
    /// it.
    func bounded(by inflateLimit: ByteCount) -> GatherRules {
        var rules = self
        rules.mostInflated = min(mostInflated, ByteCount(inflateLimit.bytes / 4))
        return rules
    }
}
