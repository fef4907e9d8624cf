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

    /// What is known of a key; `nil` when it is new, or there is none.
    ///
    /// - Parameter segment: The segment's name.
    func known(_ key: String?, segment: SegmentName?) -> KnownKey? {
        key.flatMap { key in index.keys.withLock { $0.known(key, segment: segment) } }
    }

    func add(_ entry: ReceivedEntry) { index.keys.withLock { $0.add(entry) } }
}
