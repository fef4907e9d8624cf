/// What came of bringing a rejected segment back.
public enum RetryResult: Equatable, Sendable {
    case pending
    case notFound
    /// No spool would send a file of that name.
    case noSegment
    /// A pending segment has its name.
    case nameTaken
    /// Another process works on it.
    case busy
    /// It is a half of a segment that is pending, or was sent.
    case wholeCame
    /// What it holds was salvaged as this segment, and would be sent twice.
    case salvagedBefore(as: String)
}
