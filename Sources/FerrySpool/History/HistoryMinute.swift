/// A minute of UTC, counted from 1970: the step of a spool's history.
package struct HistoryMinute: Hashable, Comparable, Sendable {
    /// The number of minutes since 1970-01-01T00:00Z; negative before.
    package let number: Int64

    private static let first = HistoryMinute(.distantPast)
    private static let last = HistoryMinute(.distantFuture)

    /// Returns the minute that a moment lies in.
    package init(_ time: Timestamp) { number = time.milliseconds.flooredDivision(by: 60_000).quotient }

    /// Creates a minute from its number; `nil` outside of the years 0000 to 9999.
    package init?(exactly number: Int64) {
        guard (Self.first.number...Self.last.number).contains(number) else { return nil }
        self.number = number
    }

    private init(clamping number: Int64) { self.number = min(max(number, Self.first.number), Self.last.number) }

    /// When the minute begins.
    package var start: Timestamp { Timestamp(milliseconds: number * 60_000) }

    /// Returns whether the left one is earlier.
    package static func < (left: HistoryMinute, right: HistoryMinute) -> Bool { left.number < right.number }

    /// Returns the minute that comes a number of minutes later.
    package static func + (left: HistoryMinute, right: Int) -> HistoryMinute {
        HistoryMinute(clamping: left.number.adding(Int64(right)))
    }

    /// Returns how many minutes the left one is later than the right one.
    package static func - (left: HistoryMinute, right: HistoryMinute) -> Int64 { left.number - right.number }
}
