import FerrySpool

/// A segment to send.
struct QueuedSegment: Sendable {
    let name: String
    private(set) var entry: SpoolListing.Entry
    /// A scan saw journals, or cannot have seen them.
    let mayBeUnfinished: Bool
    /// The scan saw nothing of an earlier try.
    var isPlain = false
    /// Another process had it when it was looked at last.
    var wasTaken = false
    /// It has missed its deadline.
    let isLate: Bool
    /// Together with others it was refused.
    let goesAlone: Bool
    /// Waits that were noted before this moment are void.
    let forgetsWaitsBefore: Timestamp?

    /// Returns it with what a look at its sidecar has shown.
    func knowing(_ sidecar: RetryState?) -> QueuedSegment {
        var item = self
        item.entry.hasSidecar = item.entry.hasSidecar || sidecar != nil
        return item
    }
}
