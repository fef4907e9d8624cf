import FerrySpool

/// When the events in a journal become a segment: the decision, without a file or a clock.
public struct BatchRules: Equatable, Sendable {
    /// Events per segment. 50, as in App Center's and Sensors Analytics' requests.
    public var events = 50
    /// The longest time after the segment's first event; zero or negative, where ``IntervalRule`` allows that: only when a caller
    /// flushes, or at ``events``. 6 s, App Center's transmission interval.
    public var interval = Duration.seconds(6)
    /// The same for critical events. Published within 3 s, as App Center sends them, with a second for the disk.
    public var criticalInterval = Duration.seconds(2)

    /// Creates App Center's rules: 50 events or 6 s.
    public init() {}

    /// Returns the rules beside an uploader that counts its interval from the oldest stored event, published or not.
    ///
    /// - Parameter interval: The uploader's; `nil`: it gathers nothing, or none runs. What waits for a flush goes on waiting for it.
    func upTo(_ uploader: Duration?) -> BatchRules {
        var rules = self
        if let uploader, interval > .zero { rules.interval = min(interval, uploader) }
        return rules
    }

    /// While the disk or the compressor is behind, journals grow beyond ``events``: to this size, then a new one is begun.
    static let largestJournal = ByteCount.mebibytes(8)
    /// How many journals may wait for the compressor, or for what keeps them from being published, each an open file; then the newest grow on.
    static let mostWaiting = 64

    /// A journal's content.
    struct Fill: Equatable {
        var events = 0
        var bytes = ByteCount.zero
        /// When its first event came.
        var since: Duration
        /// Events come faster than they are compressed.
        var isBacklog: Bool { bytes >= largestJournal }

        /// Counts an event that was stored.
        ///
        /// - Returns: What there is with it.
        mutating func add(_ size: ByteCount, at now: Duration) -> Fill {
            // A journal whose first event found no room may have waited for long.
            if events == 0 { since = now }
            events += 1
            bytes += size
            return self
        }
    }

    /// Returns when a journal is to be published in any case; `nil`: not by itself.
    func due(_ fill: Fill, _ priority: Priority) -> Duration? {
        if priority == .critical { return fill.since + criticalInterval }
        return interval > .zero ? fill.since + interval : nil
    }

    func isDue(_ fill: Fill, _ priority: Priority, at now: Duration) -> Bool {
        fill.events >= events || due(fill, priority).map { $0 <= now } ?? false
    }
}
