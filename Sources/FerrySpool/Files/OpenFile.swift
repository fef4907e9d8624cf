import CForks
import CLinux
import Glibc

/// An open file. Closed when the last reference goes, which also gives back its lock.
package final class OpenFile: Sendable {
    /// The file descriptor.
    package let descriptor: Int32
    /// When it was opened: in a fork's child it may not be there any more.
    private let forks = ferry_fork_count()
    /// For messages.
    package let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { ferry_close_descriptor(descriptor, forks) }

    /// Returns whether the descriptor is still this file's. A program that closes all descriptors (closefrom(3)) closes this one too, and its
    /// number may be another file's.
    package func isStill(_ identity: FileStatus.Identity) -> Bool { (try? status())?.identity == identity }

    /// Whether no fork lies between this process and the one that opened it.
    var isOfThisProcess: Bool { forks == ferry_fork_count() }

    /// Leaves the descriptor's number to the file that has it now.
    package func abandon() {
        ferry_disown_descriptor(descriptor)
        // Never freed, so never closed.
        _ = Unmanaged.passRetained(self)
    }

    /// Takes over standard input; it is closed like any other file.
    package static func standardInput() -> OpenFile { OpenFile(descriptor: fcntl(0, F_DUPFD_CLOEXEC, 3), path: "standard input") }

    /// Opens a file anywhere, for reading.
    package static func reading(_ path: String) throws(FileError) -> OpenFile {
        let descriptor = behindStandardStreams(open(path, O_RDONLY | O_CLOEXEC))
        guard descriptor >= 0 else { throw FileError("open", path) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Opens a regular file anywhere, for reading; never waits, as opening a pipe does.
    ///
    /// - Returns: `nil` when there is something else at the path.
    package static func readingRegular(_ path: String) throws(FileError) -> OpenFile? {
        let file = try readingAnything(path)
        return try file.status().isRegular ? file : nil
    }

    /// Opens a file of any kind at any path, for reading; never waits, as opening a pipe does.
    package static func readingAnything(_ path: String) throws(FileError) -> OpenFile {
        let descriptor = behindStandardStreams(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK))
        guard descriptor >= 0 else { throw FileError("open", path) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Waits until there is something to read, or its end.
    ///
    /// - Returns: `false` when there was not in time.
    package func isReadable(before end: ContinuousClock.Instant) -> Bool {
        while true {
            let left = max((end - .now).inSeconds, 0)
            var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let count = Glibc.poll(&poll, 1, Int32(min(left * 1000, 1e6).rounded(.up)))
            if count > 0 { return true }
            // A signal, or the time is over.
            if left == 0 || count < 0 && errno != EINTR { return false }
        }
    }

    /// Reads the next bytes, up to `count`; returns none at the end.
    package func nextBytes(_ count: Int) throws(FileError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        defer { buffer.deallocate() }
        return Array(buffer[..<(try read(into: buffer))])
    }

    /// Creates or empties a file anywhere, for writing, with mode 0600.
    package static func creating(_ path: String, appending: Bool = false) throws(FileError) -> OpenFile {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (appending ? O_APPEND : O_TRUNC)
        let descriptor = behindStandardStreams(open(path, flags, 0o600))
        guard descriptor >= 0 else { throw FileError("create", path) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Creates a file anywhere that must not exist yet, for writing, with mode 0600.
    package static func creatingNew(_ path: String) throws(FileError) -> OpenFile {
        let descriptor = behindStandardStreams(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        guard descriptor >= 0 else { throw FileError("create", path) }
        return OpenFile(descriptor: descriptor, path: path)
    }

    /// Reads the file's status: fstat(2).
    package func status() throws(FileError) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileError("examine", path) }
        return FileStatus(status)
    }

    /// Reads what is there, up to the buffer's size; 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        while true {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw FileError("read", path) }
        }
    }

    /// Reads up to the buffer's size from an offset, less only at the end of the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        var total = 0
        // A buffer with room, and bytes that are left to write, lie somewhere: their address is never nil.
        while total < buffer.count {
            let count = pread(descriptor, buffer.baseAddress! + total, buffer.count - total, off_t(offset) + total)
            if count == 0 { break }
            if count > 0 { total += count } else if errno != EINTR { throw FileError("read", path) }
        }
        return total
    }

    /// Reads up to `count` bytes from an offset, fewer only at the end of the file.
    package func readBytes(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FileError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of it.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var written = 0
        try write(bytes, written: &written)
    }

    /// Writes all of it, and says how much of it was written when it fails.
    func write(_ bytes: UnsafeRawBufferPointer, written: inout Int) throws(FileError) {
        while written < bytes.count {
            // A buffer with bytes in it has an address.
            let count = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
            if count >= 0 { written += count } else if errno != EINTR { throw FileError("write", path) }
        }
    }

    /// Writes all of the bytes at the file's position.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + written, $0.count - written) }
            if count >= 0 { written += count } else if errno != EINTR { throw FileError("write", path) }
        }
    }

    /// Writes all of it at an offset. A disk that gets full takes a part, and says so only when it is asked for the rest.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        var written = 0
        while written < bytes.count {
            // An array with bytes in it has an address.
            let count = bytes.withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(offset) + off_t(written))
            }
            if count >= 0 { written += count } else if errno != EINTR { throw FileError("write", path) }
        }
    }

    /// Cuts the file off, for callers that write by offsets.
    func cut(to length: Int64) throws(FileError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw FileError("truncate", path) }
    }

    /// Cuts the file off; what is written next follows there.
    func truncate(to length: Int64) throws(FileError) {
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) >= 0 else {
            throw FileError("truncate", path)
        }
    }

    /// Forces data and size to the disk.
    package func sync() throws(FileError) {
        guard fdatasync(descriptor) == 0 else { throw FileError("sync", path) }
    }
}
