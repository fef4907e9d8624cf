extension RequestNote.Segment {
    /// Creates the note of a claimed segment, or of some of its lines.
    ///
    /// - Parameters:
    ///   - lines: From 0; `nil`: the file as it is.
    ///   - isLast: None is behind them.
    package init(_ claim: Claim, attempts: Int, lines: Range<Int64>?, isLast: Bool = false) throws(FileError) {
        name = claim.name
        content = try claim.contentMark()
        self.attempts = attempts
        (from, to, last) = (lines?.lowerBound, lines?.upperBound, isLast ? true : nil)
    }
}
