import Glibc

/// A moment by two clocks: the wall's, which people set, and one that only goes forward.
package struct Moment: Sendable {
    /// What the wall clock shows.
    package var wall: Timestamp
    /// Since any fixed moment.
    package var steady: Duration

    /// Creates a moment.
    package init(wall: Timestamp, steady: Duration) {
        self.wall = wall
        self.steady = steady
    }

    /// Reads the machine's clocks; the steady one stands still while the machine sleeps (CLOCK_MONOTONIC).
    package static func now() -> Moment {
        Moment(wall: .now(), steady: .nanoseconds(KernelClock.nanoseconds(CLOCK_MONOTONIC)))
    }
}
