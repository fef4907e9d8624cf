public import FerrySpool

/// Something that the program should know but need not act on.
public enum TrackerWarning: Sendable, CustomStringConvertible {
    /// A part of an event was left out. Reported once for each kind of limit.
    case truncated(event: String, EventLimitError)
    /// A journal could not be published; its events are safe in it, and it is tried again.
    case sealing(FileError)
    /// The spool's identity cannot be understood: its events come from another anonymous id from now on, and from no user.
    case identityLost(UnreadableState)
    /// A limit dropped stored segments.
    case dropped(RetentionReport)
    /// The disk was full, and delivered segments were deleted for what is tracked.
    case madeRoom(LedgerTotals.Count)
    /// What is sent from within the program is refused, or not sent for now.
    case sending(String)

    /// The warning as one line.
    public var description: String {
        switch self {
        case .truncated(let event, let breach):
            "event '\(event)': \(breach); the rest is left out, here and in future without a word"
        case .sealing(let error): "\(error). The events are safe in their journal, which is tried again"
        case .identityLost(let state):
            "\(state). It is kept beside; events have a new anonymous id and no user: log in again"
        case .dropped(let report):
            "dropped \(report.expired.segments) segments by age and \(report.evicted.segments) for room; the ledger has them"
        case .madeRoom(let deleted):
            "the disk was full: deleted \(deleted.segments) delivered segments (\(deleted.bytes)) for new events"
        case .sending(let text): text
        }
    }
}
