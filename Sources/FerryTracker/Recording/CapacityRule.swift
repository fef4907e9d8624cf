import FerrySpool

/// Whether a full spool has room for an event: the decision, without a file.
struct CapacityRule {
    /// The spool's size limit.
    let limit: ByteCount
    /// What each priority, from 0 to 9, holds in published segments.
    var stored = [ByteCount](repeating: .zero, count: Priority.levels)

    /// Events that are not published yet may take so much, or the limit if that is more: the compressor is behind by seconds then.
    private static let mostUnsealed = ByteCount.mebibytes(64)
    /// Events take at least so much less in a segment than in a journal, unless they are very few.
    private static let compression: Int64 = 4
    private static let smallestSegment = ByteCount(512)

    /// An event finds room if it can be made at the cost of what is not more urgent. Critical events always do: the oldest of them go.
    ///
    /// - Parameter unsealed: What is in journals, the event included.
    func hasRoom(for priority: Priority, unsealed: ByteCount) -> Bool {
        if unsealed > max(limit, Self.mostUnsealed) { return false }
        let outranking = stored[..<Int(priority.level)].reduce(.zero, +)
        return outranking == .zero
            || outranking + max(ByteCount(unsealed.bytes / Self.compression), Self.smallestSegment) <= limit
    }
}
