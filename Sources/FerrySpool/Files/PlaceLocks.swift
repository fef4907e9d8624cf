import CForks
import Glibc
import Synchronization

/// A file whose bytes are locked one by one (`fcntl(2)`, open file description locks): each stands for a file of that inode.
///
/// `flock(2)` locks a file under all of its names. Where one file has a name in several folders, and each folder deals with it by itself, each has
/// such a file of locks.
package final class PlaceLocks: Sendable {
    private let file: OpenFile
    /// The kernel gives one open file the same byte twice.
    private let held = Mutex<Set<Int64>>([])

    init(_ file: OpenFile) {
        self.file = file
        ferry_own_descriptor(file.descriptor)
    }

    /// What came of trying to lock a file.
    enum Result {
        case locked(PlaceLock)
        case heldByAnother
        case refused(FileError)
    }

    /// Takes the lock that stands for a file, unless another process, or this one, has it.
    func tryLocking(_ identity: FileStatus.Identity) -> Result {
        // Two inodes whose numbers differ in the highest bits alone have one lock: one of the two waits for the other.
        let place = Int64(UInt64(identity.inode) & (1 << 62 - 1))
        guard held.withLock({ $0.insert(place).inserted }) else { return .heldByAnother }
        while ferry_lock_place(file.descriptor, place) != 0 {
            let code = errno
            if code == EINTR { continue }
            held.withLock { _ = $0.remove(place) }
            return code == EAGAIN || code == EACCES ? .heldByAnother : .refused(FileError("lock", file.path, code: code))
        }
        return .locked(PlaceLock(self, place))
    }

    fileprivate func unlock(_ place: Int64) {
        held.withLock { held in
            _ = ferry_unlock_place(file.descriptor, place)
            held.remove(place)
        }
    }
}

/// A lock that is held as long as this lives.
final class PlaceLock: Sendable {
    private let locks: PlaceLocks
    private let place: Int64

    fileprivate init(_ locks: PlaceLocks, _ place: Int64) {
        self.locks = locks
        self.place = place
    }

    deinit { locks.unlock(place) }
}
