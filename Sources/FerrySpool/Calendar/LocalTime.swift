/// What a zone's clocks and calendars show.
package struct LocalTime: Equatable, Sendable {
    /// Days since 1970-01-01.
    package var day: Int64
    /// Seconds since midnight, by the clock's face.
    package var second: Int64

    /// Creates a local time from its day and its second.
    package init(day: Int64, second: Int64) {
        self.day = day
        self.second = second
    }

    /// 0 is Monday. 1970-01-01 was a Thursday.
    package var weekday: Int { Int((day + 3) - (day + 3).floored(by: 7) * 7) }
}
