import Glibc

extension Spool {
    /// Returns whether a file was given its name when it was finished: it has another name besides, or bytes and no writer. `false` when the
    /// kernel does not tell.
    package func isFinished(_ name: String) -> Bool {
        var status = stat()
        guard fstatat(directory.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_size > 0
        else { return false }
        if status.st_nlink > 1 { return true }
        guard let file = (try? directory.open(name)) ?? nil else { return false }
        return file.isBeingWritten == false
    }
}

extension OpenFile {
    /// Whether a process has the file open for writing; `nil` when the kernel does not tell: another user's file, some file systems.
    ///
    /// A read lease (fcntl(2)) is refused while there is a writer. A writer that comes in between waits for the microseconds until it is
    /// given back.
    var isBeingWritten: Bool? {
        // Instead of SIGIO, which would end the process, a signal that is ignored by default announces that writer.
        guard fcntl(descriptor, Self.setSignal, SIGURG) == 0 else { return nil }
        if fcntl(descriptor, Self.setLease, F_RDLCK) == 0 {
            _ = fcntl(descriptor, Self.setLease, F_UNLCK)
            return false
        }
        return errno == EAGAIN ? true : nil
    }

    /// F_SETSIG and F_SETLEASE, which hide behind _GNU_SOURCE.
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024
}
