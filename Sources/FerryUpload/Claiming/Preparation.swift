import FerrySpool

/// What came of preparing a segment.
enum Preparation: Sendable {
    case ready(PreparedSegment)
    /// Its back-off is not over.
    ///
    /// - Parameter request: The key of the request that it is to be repeated in with others.
    case waits(until: Timestamp, request: String?)
    /// It may be still being written.
    case beingWritten(until: Timestamp)
    /// Another process has it.
    case taken
    /// Another process has ended it.
    case gone
    /// It was marked since the spool was listed: it travels by hand.
    case travels
    case unusable(FileError)
    /// It can never be sent.
    case damaged(Claim, RejectionCause, attempts: Int)
    /// A crash interrupted its split.
    case halfSplit(Claim)
    /// It must be inflated first, which takes time.
    case needsInflating
}
