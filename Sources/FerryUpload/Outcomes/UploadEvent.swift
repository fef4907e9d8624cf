public import FerrySpool

/// What happens during a pass, as it happens.
public enum UploadEvent: Sendable {
    case sent(LedgerEntry)
    case rejected(LedgerEntry)
    case split(LedgerEntry)
    /// It failed by its own fault or without a verdict, and is tried again then.
    case backsOff(segment: String, until: Timestamp, Verdict.Reason)
    /// Something a person may want to know of.
    case warning(String)
}
