import Glibc

/// A moment by two clocks: the wall's, which people set, and one that only goes forward.
public struct Moment: Sendable {
    /// What the wall clock shows.
    public var wall: Timestamp
    /// Since any fixed moment.
    public var steady: Duration

    /// Creates a moment.
    public init(wall: Timestamp, steady: Duration) {
        self.wall = wall
        self.steady = steady
    }

    /// Reads the machine's clocks; the steady one stands still while the machine sleeps (CLOCK_MONOTONIC).
    public static func now() -> Moment {
        Moment(wall: .now(), steady: .nanoseconds(KernelClock.nanoseconds(CLOCK_MONOTONIC)))
    }
}
