import FerrySpool

/// One request to make: of a segment, or of several that go out together.
struct DeliveryJob: Sendable {
    let id: PassPlan.ID
    let lane: Int
    /// Which spool its lane was for when it was made.
    let spool: SpoolNumber
    let items: [QueuedSegment]
    /// More of their kind follow, which had no room beside them.
    var isFull = false

    var size: ByteCount { items.reduce(.zero) { $0 + ($1.entry.size ?? .zero) } }

    /// Returns the same request with other segments.
    func with(_ items: [QueuedSegment]) -> DeliveryJob { DeliveryJob(id: id, lane: lane, spool: spool, items: items) }
}

/// A number for each spool that joins a delivery. A spool that comes back has another one.
typealias SpoolNumber = Int

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

/// Why a segment was not sent.
enum SkipReason: Sendable {
    /// Its back-off is not over.
    ///
    /// - Parameter request: The key of the request that it is to be repeated in with others.
    case waits(until: Timestamp?, request: String? = nil)
    /// It cannot be opened, or not be locked.
    case unusable(FileError)
    /// It may be still being written.
    ///
    /// - Parameter request: As in ``waits(until:request:)``.
    case settles(until: Timestamp, request: String? = nil)
    /// Another process has it.
    ///
    /// - Parameter request: As in ``waits(until:request:)``.
    case taken(request: String? = nil)
    /// Other processes have, or must wait, what it is to go out with in this request.
    case torn(request: String)
    /// It ended without the destination.
    case ended
}
