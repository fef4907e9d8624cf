/// When a new segment was opened, by the best that is known: the decision, without a clock or a file.
///
/// The order of names is the order of upload. So a new segment is never dated before what its spool's writers dated earlier, though machines
/// without a battery clock boot in 1970, and NTP sets clocks back.
package struct CreationTime: Equatable, Sendable {
    /// The time for the segment's name.
    package let created: Timestamp
    /// The clock's own reading, when it differs by more than two segments of one moment do.
    package let clock: Timestamp?

    /// A time that is further ahead of a credible clock comes from a clock that was wrong: it is mended, and not followed.
    package static let longestLead = Duration.seconds(86_400)
    /// Several segments in one millisecond get the following ones. That says nothing of the clock.
    private static let tolerance = Duration.seconds(1)

    /// Chooses the time of a segment after those of earlier ones.
    ///
    /// - Parameters:
    ///   - reading: What the wall clock says.
    ///   - earlier: Times of earlier segments, in any order.
    package init(reading: Timestamp, after earlier: some Sequence<Timestamp>) {
        let latest = earlier.lazy.filter { Self.isFollowed($0, reading: reading) }.max()
        created = max(reading, latest.map { $0 + .milliseconds(1) } ?? reading)
        clock = created - reading >= Self.tolerance ? reading : nil
    }

    /// Returns whether a new segment must come after this time.
    static func isFollowed(_ earlier: Timestamp, reading: Timestamp) -> Bool {
        guard earlier < .distantFuture else { return false }
        // A clock that is not set yet knows less than any name.
        return reading < RetentionLimits.earliestCredibleTime || earlier - reading <= longestLead
    }
}
