/// What a tracker has done so far.
public struct TrackerStatistics: Equatable, Sendable {
    /// Events that were stored.
    public var stored = 0
    /// Events that were refused, or that the disk did not take: `track` threw.
    public var failed = 0
    /// Stored events of which a limit left something out.
    public var truncated = 0
}
