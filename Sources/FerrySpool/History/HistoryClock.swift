/// Says in which minute a step is noted: in none while the wall clock is not to be trusted. A clock that is far ahead for a moment would else have the
/// whole history forgotten.
package struct HistoryClock: Sendable {
    private var lastWall: Timestamp?
    private var lastMonotonic = ContinuousClock.now
    /// Until then nothing is noted.
    private var quietUntil: ContinuousClock.Instant?

    /// What NTP may set a clock by; and what a busy machine may lie between two readings.
    private static let smallStep = Duration.seconds(300)
    /// How long a clock has to go steadily after it was set by more.
    static let quiet = Duration.seconds(600)

    /// Creates a clock that trusts its first reading.
    package init() {}

    /// Returns the minute of a reading; `nil` where nothing is to be noted.
    ///
    /// - Parameter monotonic: Of the same moment.
    package mutating func minute(_ wall: Timestamp, _ monotonic: ContinuousClock.Instant) -> HistoryMinute? {
        defer { (lastWall, lastMonotonic) = (wall, monotonic) }
        if let lastWall {
            let step = (wall - lastWall) - (monotonic - lastMonotonic)
            if step > Self.smallStep || step < .zero - Self.smallStep { quietUntil = monotonic + Self.quiet }
        }
        if let quietUntil, monotonic < quietUntil { return nil }
        quietUntil = nil
        return HistoryMinute(wall)
    }
}
