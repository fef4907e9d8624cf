/// What applying the limits did.
public struct RetentionReport: Equatable, Sendable {
    /// Segments that the age limit dropped.
    public var expired = LedgerTotals.Count()
    /// Segments that the size limit dropped.
    public var evicted = LedgerTotals.Count()
    /// The age limit was not applied, because the clock has not been steady for an hour since it jumped, or since the first look at it.
    public var isClockSettling = false
    /// Bytes over the size limit that could not be freed: everything droppable is claimed or too urgent.
    public var stillOver = ByteCount.zero
    /// Why files could not be examined, claimed or locked, for the first of them: the limits are kept as far as that allows.
    public var problems: [FileError] = []
    /// What each priority, from 0 to 9, holds afterwards; empty without limits.
    public var stored: [ByteCount] = []

    /// Creates a report of nothing done.
    public init() {}
}

extension RetentionReport {
    mutating func dropped(_ size: ByteCount?, _ priority: Priority) {
        let level = Int(priority.level)
        if let size { stored[level] = stored[level] - size }
    }
}
