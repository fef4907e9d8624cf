import Synchronization

/// A segment that this process alone may send, reject or evict, for as long as the claim lives.
///
/// It is the kernel's advisory lock on the segment's file, so a killed process leaves no claim behind.
package final class Claim: Sendable {
    /// The segment's file name.
    package let name: String
    /// The segment's open file, which holds the lock.
    package let file: OpenFile
    /// As it was when it was claimed.
    package let status: FileStatus
    /// The segment's name, when it has the form of the format.
    package let segmentName: SegmentName?
    /// What was read of the content.
    private let mark: Mutex<ContentMark?>
    /// The request that it goes out in: noted until its outcome is written down.
    private let request = Mutex<NotedRequest?>(nil)

    init(name: String, segmentName: SegmentName?, file: OpenFile, status: FileStatus, mark: ContentMark? = nil) {
        self.name = name
        self.segmentName = segmentName
        self.file = file
        self.status = status
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
