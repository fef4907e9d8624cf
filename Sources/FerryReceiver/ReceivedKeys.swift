import FerryIntake
import FerrySpool
import Synchronization

/// The keys that the receiver knows: what is in the log of its spool, whichever process has written it there.
final class ReceivedKeys: Sendable {
    private let index: Index
    let log: ReceivedLogFollower

    /// Shared with the follower's closure.
    private final class Index: Sendable {
        let keys: Mutex<KeyIndex>

        init(_ keys: KeyIndex) { self.keys = Mutex(keys) }
    }

    init(_ spool: Spool) throws(FileError) {
        var place = ReceivedLogPlace()
        var keys = KeyIndex()
        try spool.forEachReceived(after: &place) { keys.add($0) }
        let index = Index(keys)
        self.index = index
        log = ReceivedLogFollower(after: place) { entries in
            index.keys.withLock { keys in for entry in entries { keys.add(entry) } }
        }
    }

    /// What is known of a key by itself; `nil` when it never came.
    ///
    /// - Parameter segment: The segment's name, as its sender gave it.
    func known(_ key: String, segment: SegmentName?) -> KnownSegment? {
        index.keys.withLock { $0.known(key, segment: segment) }
    }

    /// What is known of a segment, by itself or in other parts; `nil` when it is new.
    func known(_ key: String, segment: SegmentName?, events: Int64) -> KnownSegment? {
        index.keys.withLock { $0.known(key, segment: segment, events: events) }
    }

    /// The same without what is but noted, and may be gone.
    func knownWithoutNotes(_ key: String, segment: SegmentName?, events: Int64) -> KnownSegment? {
        index.keys.withLock { $0.withoutNotes.known(key, segment: segment, events: events) }
    }

    func add(_ entry: ReceivedEntry) { index.keys.withLock { $0.add(entry) } }
}
