import FerrySpool

/// One request to make: of a segment, or of several that go out together.
struct DeliveryJob: Sendable {
    let id: DeliveryPlan.ID
    /// The index of its segments' queue.
    let queue: Int
    /// The spool that the queue was for when the job was made.
    let spool: SpoolNumber
    let items: [QueuedSegment]
    /// More of their kind follow, which had no room beside them.
    var isFull = false

    var size: ByteCount { items.reduce(.zero) { $0 + ($1.entry.size ?? .zero) } }

    /// Returns the same request with other segments.
    func with(_ items: [QueuedSegment]) -> DeliveryJob { DeliveryJob(id: id, queue: queue, spool: spool, items: items) }
}
