import Glibc

/// What came of trying to be the only process that does something with a spool.
package enum StateLocking: Sendable {
    /// For as long as the file stays open.
    case locked(OpenFile)
    /// - Parameter process: The number of the process that holds it, where that can be read.
    case heldByAnother(process: Int32?)
}

extension OwnStateFiles {
    /// Takes the lock of a file in ``Spool/stateFolderName``, which is made if need be and tells the process.
    package func lock(named name: String) throws(FileError) -> StateLocking {
        guard let stateDirectory = spool.stateDirectory else {
            throw spool.stateFailure ?? FileError("write into", spool.path, code: EROFS)
        }
        let file = try stateDirectory.openOrCreate(name, flags: O_RDWR)
        var locking = file.tryLocking()
        // A child that its last holder has just made, and that was killed since, holds a copy until its exec.
        let end = ContinuousClock.now + .milliseconds(100)
        while locking == .heldByAnother, ContinuousClock.now < end {
            usleep(2000)
            locking = file.tryLocking()
        }
        switch locking {
        case .refused(let error): throw error
        case .heldByAnother:
            let text = String(decoding: try file.readBytes(16, at: 0), as: UTF8.self)
            return .heldByAnother(process: Int32(text.prefix { $0.isNumber }))
        case .locked:
            // For people: the lock is what counts.
            try? file.truncate(to: 0)
            try? file.write(Array("\(getpid())\n".utf8))
            return .locked(file)
        }
    }
}
