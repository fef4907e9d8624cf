import FerrySpool

extension Timestamp {
    /// The time in nanoseconds since 1970; `nil` for one before 1970 or after 2261, which 64 bits do not hold.
    var unixNanoseconds: Int64? {
        let (nanoseconds, isLarge) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        return isLarge || nanoseconds < 0 ? nil : nanoseconds
    }
}
