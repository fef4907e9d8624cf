public import FerrySpool
import Synchronization

/// Counts what a long-running uploader has done since it began.
public final class RunCounters: Sendable {
    /// Whose work is counted.
    public struct Key: Hashable, Sendable {
        /// The path of the spool.
        public let spool: String
        /// The priority of the segments.
        public let priority: Priority

        /// Names whose work is counted.
        package init(spool: String, priority: Priority) {
            self.spool = spool
            self.priority = priority
        }
    }

    /// What became of segments, in segments unless another unit is named.
    public struct Counts: Equatable, Sendable {
        /// Segments that were delivered and have ended.
        public var sent: Int64 = 0
        /// The compressed bytes of these.
        public var sentBytes: Int64 = 0
        /// The events of these, as far as known.
        public var sentEvents: Int64 = 0
        /// Tries that failed and are to be repeated.
        public var retried: Int64 = 0
        /// Segments that were rejected.
        public var rejected: Int64 = 0
        /// Segments that were replaced by their halves.
        public var split: Int64 = 0

        /// Creates counts at zero.
        package init() {}
    }

    /// How long answers took, in counts of those not slower than each bound.
    public struct Latency: Equatable, Sendable {
        /// Prometheus' default buckets, in seconds, with 1 ms and 60 s besides.
        public static let bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
        /// The number of answers within each of ``bounds``, cumulative.
        public var buckets = [Int64](repeating: 0, count: bounds.count)
        /// The number of answers.
        public var count: Int64 = 0
        /// The sum of all times, in seconds.
        public var seconds = 0.0

        /// Creates a histogram without answers.
        package init() {}

        mutating func add(_ duration: Duration) {
            let seconds = duration.inSeconds
            for (index, bound) in Self.bounds.enumerated() where seconds <= bound { buckets[index] += 1 }
            count += 1
            self.seconds += seconds
        }
    }

    /// All counters at one moment.
    public struct Totals: Sendable {
        /// By spool and priority; a key is there once something is counted.
        public var counts: [Key: Counts] = [:]
        /// By spool and reason: `expired`, `evicted`.
        public var dropped: [String: [String: Int64]] = [:]
        /// How long answers took, over all spools.
        public var requests = Latency()

        /// Creates counters at zero.
        package init() {}
    }

    private let totals = Mutex(Totals())

    /// Creates counters at zero.
    package init() {}

    /// A copy of the counters at this moment.
    public var current: Totals { totals.withLock { $0 } }

    func count(_ event: UploadEvent, in spool: String) {
        func add(_ segment: String, _ change: (inout Counts) -> Void) {
            let key = Key(spool: spool, priority: SegmentName(segment)?.priority ?? .normal)
            totals.withLock { change(&$0.counts[key, default: Counts()]) }
        }
        switch event {
        case .sent(let entry):
            // What was put into lanes was delivered nowhere yet.
            guard entry.outcome == .sent else { return }
            add(entry.segment) {
                $0.sent += 1
                $0.sentBytes.add(entry.bytes.bytes)
                $0.sentEvents.add(entry.events ?? 0)
            }
        case .rejected(let entry): add(entry.segment) { $0.rejected += 1 }
        case .split(let entry): add(entry.segment) { $0.split += 1 }
        case .backsOff(let segment, _, _): add(segment) { $0.retried += 1 }
        case .warning: break
        }
    }

    func count(_ report: RetentionReport, in spool: String) {
        totals.withLock { totals in
            for (reason, count) in [("expired", report.expired), ("evicted", report.evicted)] where count.segments > 0 {
                totals.dropped[spool, default: [:]][reason, default: 0] += count.segments
            }
        }
    }

    /// Forgets a spool that is looked after no more.
    func forget(_ spool: String) {
        totals.withLock { totals in
            totals.counts = totals.counts.filter { $0.key.spool != spool }
            totals.dropped[spool] = nil
        }
    }

    func count(_ request: Duration) { totals.withLock { $0.requests.add(request) } }
}
