import CForks
import Glibc

extension OpenFile {
    /// Takes the exclusive advisory lock unless another process holds it. The kernel gives it back when the process dies.
    package func tryLocking() -> Locking {
        ferry_own_descriptor(descriptor)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return .heldByAnother }
            if errno != EINTR { return .refused(FileError("lock", path)) }
        }
        return .locked
    }

    /// Returns whether the exclusive advisory lock could be taken.
    package func tryLock() -> Bool { tryLocking() == .locked }

    /// How long a process waits for what another one holds for no longer than a write.
    package static let patience = Duration.seconds(10)

    /// Waits for the exclusive advisory lock, for a bounded time. Only for files that a process holds for no longer than a write.
    func lock(within patience: Duration = patience) throws(FileError) {
        let end = ContinuousClock.now + patience
        var pause: UInt32 = 100
        while true {
            switch tryLocking() {
            case .locked: return
            case .refused(let error): throw error
            case .heldByAnother: break
            }
            guard ContinuousClock.now < end else { throw FileError("lock", path, code: ETIMEDOUT) }
            usleep(pause)
            pause = min(pause * 2, 10_000)
        }
    }

    func unlock() { flock(descriptor, LOCK_UN) }
}

extension Directory {
    /// Waits for the lock of a file, which is made if need be.
    ///
    /// - Returns: The file: the lock is held for as long as it is open.
    package func lock(_ name: String, within patience: Duration = OpenFile.patience) throws(FileError) -> OpenFile {
        let file = try openOrCreate(name, flags: O_RDWR)
        try file.lock(within: patience)
        return file
    }

    /// Opens a file for reading and takes its lock.
    ///
    /// NFS locks a descriptor only if it may write; there the file is opened for writing as well.
    ///
    /// - Throws: ``FileError``, with the operation `lock` when the lock cannot be had by any process.
    func openLocked(_ name: String) throws(FileError) -> LockedOpening {
        guard let file = try open(name) else { return .absent }
        switch file.tryLocking() {
        case .locked: return .locked(file)
        case .heldByAnother: return .heldByAnother
        case .refused(let error):
            guard error.code == EBADF else { throw error }
            return try openLockedForWriting(name, refusal: error)
        }
    }

    private func openLockedForWriting(_ name: String, refusal: FileError) throws(FileError) -> LockedOpening {
        let file: OpenFile
        do throws(FileError) {
            file = try open(name, flags: O_RDWR | O_NONBLOCK)
        } catch {
            if error.code == ENOENT { return .absent }
            throw refusal
        }
        switch file.tryLocking() {
        case .locked: return .locked(file)
        case .heldByAnother: return .heldByAnother
        case .refused(let error): throw error
        }
    }

    /// Creates a file whose lock says that its maker lives.
    ///
    /// - Returns: `nil` when another process came between, took the file for a dead process's, and removes it: another name will do.
    package func createLocked(_ name: String) throws(FileError) -> OpenFile? {
        let file = try createOwned(name)
        switch file.tryLocking() {
        case .heldByAnother: return nil
        case .refused(let error):
            try? remove(name)
            throw error
        case .locked: return try status(name)?.identity == file.status().identity ? file : nil
        }
    }
}

extension FileError {
    /// The file system gave no lock. Without locks a segment would be sent by two processes at once.
    package var isLocking: Bool { operation == "lock" }
}

extension OpenFile {
    /// Whether a process holds the exclusive lock. Asking keeps no other reader from asking. Where there are no locks, the answer is yes.
    var isHeld: Bool {
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
        flock(descriptor, LOCK_UN)
        return false
    }
}
