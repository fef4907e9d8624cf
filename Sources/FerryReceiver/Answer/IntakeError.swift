import FerrySpool

/// Why a body is not taken.
enum IntakeError: Error, Equatable {
    case tooLarge(limit: ByteCount)
    /// It is larger than all that the machine's spool may hold.
    case largerThanQuota(ByteCount)
    /// It inflates to more than `ratio` times its size.
    case tooDense(ratio: Int64)
    case damaged(GzipError)
    case notJSONLines(JSONLineError)
    /// The key came before, with other bytes.
    case conflict(key: String)
    /// A half of it came before.
    case inPart(name: String)
    /// It comes back to where it has been.
    case circle(CircleError)
    /// It is pending here under its name, was never received, and may be what is being sent.
    case ownSegment(name: String)
    /// A pending file of its name is damaged, or is just being copied in.
    case unsoundThere(name: String)
    /// It was here, came another way and was sent on, and is too large to be taken again: its halves would be the same events under other keys.
    case sentOn(name: String, limit: ByteCount)
    /// Something follows the last segment that the request names.
    case longerThanNamed
    /// The body ends before the last segment that the request names.
    case shorterThanNamed
    /// The machine's spool holds as much as it may.
    case overQuota(ByteCount)
    case tooSlow
    /// The connection broke within the body.
    case aborted
    /// The object store does not take it now. The reason is for the log.
    case store(String, retryAfter: Duration)
    /// The object store takes only smaller ones.
    case tooLargeForStore(String)
    case file(FileError)
    /// It is sound, but could not be logged or named.
    case notAdmitted(FileError)
}
