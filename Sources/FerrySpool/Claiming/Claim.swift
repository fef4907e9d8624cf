import Synchronization

/// A segment that this process alone may send, reject or evict, for as long as the claim lives.
///
/// It is the kernel's advisory lock on the segment's file, so a killed process leaves no claim behind. In a lane it is one on a byte of the lane's
/// mark: the segment's file may have names in other lanes, which are claimed each for itself.
package final class Claim: Sendable {
    /// The segment's file name.
    package let name: String
    /// The segment's open file, which holds the lock, but in a lane.
    package let file: OpenFile
    /// The lock of a lane's segment.
    let laneLock: PlaceLock?
    /// As it was when it was claimed.
    package let status: FileStatus
    /// Whether it was claimed in a lane.
    package var isInLane: Bool { laneLock != nil }
    /// When something last happened to the file that may be a part of writing it. In a lane the kernel's own time does not tell: links to
    /// other lanes come and go.
    package var touched: Timestamp { laneLock == nil ? status.changed : status.modified }
    /// The segment's name, when it has the form of the format.
    package let segmentName: SegmentName?
    /// What was read of the content.
    private let mark: Mutex<ContentMark?>
    /// The request that it goes out in: noted until its outcome is written down.
    private let request = Mutex<NotedRequest?>(nil)

    init(
        name: String, segmentName: SegmentName?, file: OpenFile, status: FileStatus, laneLock: PlaceLock? = nil,
        mark: ContentMark? = nil
    ) {
        self.name = name
        self.segmentName = segmentName
        self.file = file
        self.status = status
        self.laneLock = laneLock
        self.mark = Mutex(mark)
    }

    func remember(_ mark: ContentMark) { self.mark.withLock { $0 = mark } }

    var remembered: ContentMark? { mark.withLock { $0 } }

    /// Keeps the note of a request for as long as the claim lives, or until the next one.
    ///
    /// - Parameter request: `nil`: the outcome of the last one is written down.
    package func keep(_ request: NotedRequest?) {
        let last = self.request.withLock { kept in
            defer { kept = request }
            return kept
        }
        // Outside of the lock: it may be the last that keeps the note.
        _ = consume last
    }

    /// Notes that the noted request has arrived.
    package func noteArrival() { request.withLock { $0 }?.noteArrival() }
}
