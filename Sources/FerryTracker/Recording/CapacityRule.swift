import FerrySpool

/// Whether a full spool has room for an event: the decision, without a file.
struct CapacityRule {
    /// The spool's size limit.
    let limit: ByteCount
    /// What each priority, from 0 to 9, holds in published segments.
    var stored = [ByteCount](repeating: .zero, count: Priority.levels)

    /// The most that unpublished events may take, or the limit if that is more: the compressor is behind by seconds then.
    private static let mostUnsealed = ByteCount.mebibytes(64)
    /// The factor by which events take less in a segment than in a journal, at least, unless they are very few.
    private static let compression: Int64 = 4
    private static let smallestSegment = ByteCount(512)

    /// Returns whether an event finds room: it does if dropping what is not more urgent makes it. Critical events always do: the oldest of them go.
    ///
    /// - Parameter unsealed: What is in journals, the event included.
    func hasRoom(for priority: Priority, unsealed: ByteCount) -> Bool {
        if unsealed > max(limit, Self.mostUnsealed) { return false }
        let outranking = stored[..<Int(priority.level)].reduce(.zero, +)
        return outranking == .zero
            || outranking + max(ByteCount(unsealed.bytes / Self.compression), Self.smallestSegment) <= limit
    }
}
