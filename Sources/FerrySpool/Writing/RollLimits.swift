/// When a writer ends a segment and begins the next.
public struct RollLimits: Equatable, Sendable {
    /// At most this many events.
    public var events: Int64
    /// At most this many bytes before compression, unless a single event is larger.
    public var bytes: ByteCount
    /// At the latest this long after the segment's first event, so that a slow pipe's events are not kept back.
    public var after: Duration

    /// Creates limits: 50,000 events, 16 MiB and 60 seconds unless others are given.
    public init(events: Int64 = 50_000, bytes: ByteCount = .mebibytes(16), after: Duration = .seconds(60)) {
        self.events = events
        self.bytes = bytes
        self.after = after
    }
}
