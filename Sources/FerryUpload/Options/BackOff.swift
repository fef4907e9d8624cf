/// How long to wait after failures.
public struct BackOff: Equatable, Sendable {
    /// The waits after the first, second, … failure; the last one repeats.
    public var intervals: [Duration]
    /// Each wait is multiplied by a random factor from this range, so that many machines do not come back at once.
    public var jitter: ClosedRange<Double>
    /// A segment with this many failures of its own is rejected as exhausted.
    public var failuresAllowed: Int

    /// - Parameters:
    ///   - intervals: Without any, those of ``standard`` hold.
    public init(intervals: [Duration], jitter: ClosedRange<Double>, failuresAllowed: Int) {
        self.intervals = intervals
        self.jitter = jitter
        self.failuresAllowed = failuresAllowed
    }

    /// 10 s, 1 min, 5 min, 20 min, then 1 h, × 0.5…1.0: App Center's intervals and factor, with one before and one behind, and no end.
    public static let standard = BackOff(
        intervals: [.seconds(10), .seconds(60), .seconds(300), .seconds(1200), .seconds(3600)], jitter: 0.5...1.0,
        failuresAllowed: 10)

    /// Returns the wait after `failures` failures in a row (from 1).
    package func wait(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        wait(afterFailures: failures, chance: .random(in: 0...1, using: &generator))
    }

    /// Returns the wait after `failures` failures in a row (from 1) for a chance that was drawn before.
    /// - Parameters:
    ///   - chance: 0 for the shortest wait that the jitter allows, 1 for the longest.
    package func wait(afterFailures failures: Int, chance: Double) -> Duration {
        let intervals = intervals.isEmpty ? Self.standard.intervals : intervals
        let interval = intervals[min(max(failures, 1), intervals.count) - 1]
        return interval * (jitter.lowerBound + (jitter.upperBound - jitter.lowerBound) * chance)
    }

    /// No wait that was meant is longer, so a moment further away shows a clock that was set back.
    package var longestWait: Duration { max((intervals.max() ?? .seconds(3600)) * max(jitter.upperBound, 1), RetryAfter.longest) }
}
