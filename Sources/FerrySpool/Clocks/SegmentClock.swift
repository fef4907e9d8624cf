/// Dates the segments of one writer: each comes after the one before it, and after those of the spool's other writers.
package struct SegmentClock: Sendable {
    private var last: Timestamp?

    /// Creates the clock of a writer that has dated nothing yet.
    package init() {}

    /// Dates a new segment.
    ///
    /// - Parameter reading: What the wall clock says.
    package mutating func date(_ reading: Timestamp, in spool: Spool) -> CreationTime {
        let time = spool.clock.dateSegment(reading, after: last)
        last = time.created
        return time
    }
}
