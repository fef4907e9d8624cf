/// When a writer ends a segment and begins the next.
public struct RollLimits: Equatable, Sendable {
    /// At most this many events.
    public var events: Int64
    /// At most this many bytes before compression, unless a single event is larger.
    public var bytes: ByteCount
    /// At the latest this long after the segment's first event, so that a slow pipe's events are not kept back.
    public var after: Duration

    public init(events: Int64 = 50_000, bytes: ByteCount = .mebibytes(16), after: Duration = .seconds(60)) {
        self.events = events
        self.bytes = bytes
        self.after = after
    }
}

/// How full the segment in the making is: the decision when to roll, without a file.
struct RollState: Equatable {
    private(set) var events: Int64 = 0
    private(set) var bytes = ByteCount.zero
    let firstEventAt: ContinuousClock.Instant

    init(firstEventAt: ContinuousClock.Instant) { self.firstEventAt = firstEventAt }

    /// Whether one more event of this size still belongs into the segment.
    func hasRoom(for size: ByteCount, _ limits: RollLimits) -> Bool {
        events == 0 || (events < limits.events && bytes + size <= limits.bytes)
    }

    mutating func add(_ size: ByteCount) {
        events += 1
        bytes += size
    }

    func isDue(at now: ContinuousClock.Instant, _ limits: RollLimits) -> Bool { firstEventAt + limits.after <= now }
}
