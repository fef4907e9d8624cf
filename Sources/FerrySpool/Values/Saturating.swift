/// Sums and products of numbers that others wrote: at the end of the type's range they stop instead of trapping.
extension FixedWidthInteger {
    /// Returns the sum, or the nearest number that the type holds.
    package func adding(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// Returns the difference, or the nearest number that the type holds.
    package func subtracting(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// Returns the product, or the nearest number that the type holds.
    package func multiplying(by other: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
    }

    /// Adds a number, as ``adding(_:)`` does.
    package mutating func add(_ other: Self) { self = adding(other) }
}
