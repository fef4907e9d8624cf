/// What pruning `sent/` did.
package struct SentPruning: Sendable {
    /// Delivered segments that were deleted.
    package var deleted = LedgerTotals.Count()
    /// What could not be looked at or deleted: it stays, and everything else went on.
    package var problems: [FileError] = []
    /// There were days over the age limit, and they stay, because the clock has not been steady for an hour.
    package var isClockSettling = false

    /// Creates the result of a run that deleted nothing.
    package init() {}
}
