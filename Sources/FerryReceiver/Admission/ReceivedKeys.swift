import FerryIntake
import FerrySpool
import Glibc
import Synchronization

/// The keys that the receiver knows: what is in the logs of its spool, whichever process has written it there.
final class ReceivedKeys: Sendable {
    private let spool: Spool
    private let index: Index
    let log: ReceivedLogFollower

    /// Shared with the follower's closure.
    private final class Index: Sendable {
        let keys: Mutex<KeyIndex>

        init(_ keys: KeyIndex) { self.keys = Mutex(keys) }
    }

    private let mostInMemory: Int

    /// Reads the keys that a spool has received.
    ///
    /// - Parameters:
    ///   - mostInMemory: More keys in memory than this become a run: some 700 KB.
    ///   - mostLearned: More bytes that others have logged than this are read anew.
    init(_ spool: Spool, mostInMemory: Int = 8192, mostLearned: Int64 = 2 << 20) throws(FileError) {
        self.spool = spool
        self.mostInMemory = mostInMemory
        // Lines behind that may be cut off again, where a disk is full.
        let (keys, place) = try Self.read(spool, upTo: spool.received.settledEnds())
        let index = Index(keys)
        self.index = index
        log = ReceivedLogFollower(after: place, mostLearned: mostLearned) { entries in
            index.keys.withLock { keys in for entry in entries { keys.add(entry) } }
        } readAll: { end throws(FileError) in
            let (keys, place) = try Self.read(spool, upTo: end)
            return ReceivedLogFollower.ReadAnew(to: place) { index.keys.withLock { $0 = keys } }
        }
    }

    private static func read(
        _ spool: Spool, upTo end: ReceivedLogPlace?, leavingOut unusable: Set<String> = []
    ) throws(FileError) -> (KeyIndex, ReceivedLogPlace) {
        let runs = try KeyRuns(of: spool, upTo: end, leavingOut: unusable)
        var place = runs.place
        var keys = KeyIndex(older: runs)
        try spool.received.forEach(after: &place, upTo: end) { keys.add($0) }
        try spool.received.sync()
        return (keys, place)
    }

    /// Returns what is known of a key by itself; `nil` when it never came.
    ///
    /// - Parameter segment: The segment's name, as its sender gave it.
    func known(_ key: String, segment: SegmentName?) throws(FileError) -> KnownSegment? {
        try look { keys throws(KeyRunError) in try keys.known(key, segment: segment) }
    }

    /// Returns what is known of a segment, by itself or in other parts; `nil` when it is new.
    func known(_ key: String, segment: SegmentName?, events: Int64) throws(FileError) -> KnownSegment? {
        try look { keys throws(KeyRunError) in try keys.known(key, segment: segment, events: events) }
    }

    /// Returns the same without what is but noted, and may be gone.
    func knownWithoutNotes(_ key: String, segment: SegmentName?, events: Int64) throws(FileError) -> KnownSegment? {
        try look { keys throws(KeyRunError) in try keys.withoutNotes.known(key, segment: segment, events: events) }
    }

    func add(_ entry: ReceivedEntry) { index.keys.withLock { $0.add(entry) } }

    /// Reads all anew where a run turns out to be of no use: another process may have made one of several, and a disk may rot.
    private func look(
        _ body: (KeyIndex) throws(KeyRunError) -> KnownSegment?
    ) throws(FileError) -> KnownSegment? {
        try index.keys.withLock { keys throws(FileError) in
            // Also those that cannot be removed: the log says what they say.
            var unusable: Set<String> = []
            while true {
                do throws(KeyRunError) { return try body(keys) } catch {
                    switch error {
                    case .file(let error): throw error
                    case .unusable(let name):
                        KeyRuns.remove(name, of: spool)
                        guard unusable.insert(name).inserted else {
                            throw FileError("read", "\(spool.path)/.ferry/\(name), which changes all the time", code: EIO)
                        }
                    }
                }
                keys = try Self.read(spool, upTo: log.read, leavingOut: unusable).0
            }
        }
    }

    /// Removes a run, and reads the keys again. Where that fails, all stays as it is until the next time.
    private func readAnew(without name: String) {
        KeyRuns.remove(name, of: spool)
        index.keys.withLock { keys in
            do throws(FileError) { keys = try Self.read(spool, upTo: log.read, leavingOut: [name]).0 } catch {}
        }
    }

    /// Forgets the keys of days that are over the age.
    func forget(olderThan age: Duration, now: Timestamp) -> KeysForgotten {
        let forgotten = spool.received.forget(olderThan: age, now: now)
        if !forgotten.logs.isEmpty { index.keys.withLock { $0.forget(Set(forgotten.logs)) } }
        return forgotten
    }

    /// Makes a run of the keys in memory once they are many. Where that fails they stay there until it is tried again, with the next ones.
    func tidy() {
        guard var runs = index.keys.withLock({ $0.beginLeaving(moreThan: mostInMemory) }) else { return }
        // Asked for behind the memory: the lines of all that is leaving it are before this place.
        do throws(KeyRunError) { try runs.cover(to: log.read) } catch {
            if case .unusable(let name) = error { readAnew(without: name) }
            return
        }
        index.keys.withLock { $0.endLeaving(runs) }
    }
}
