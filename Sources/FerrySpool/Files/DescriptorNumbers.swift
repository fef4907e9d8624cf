import Glibc
import Synchronization

/// Gives an open file a number behind those of standard input, output and error, and before those that are left to others
/// (``DescriptorNumbers``). A program that has closed the standard streams goes on printing, and what it prints must not go into a file of Ferry's.
///
/// - Parameter open: Opens it, and returns what that returned.
/// - Returns: The descriptor under its number; -1, with `errno` set, where it could not be opened or there is no number left.
package func behindStandardStreams(_ open: @autoclosure () -> Int32) -> Int32 {
    occupyStandardStreams()
    let descriptor = open()
    // /dev/null may be missing, and another thread may have closed one.
    guard (0...2).contains(descriptor) else { return DescriptorNumbers.limited(descriptor) }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    let code = errno
    close(descriptor)
    errno = code
    return DescriptorNumbers.limited(moved)
}

/// Opens /dev/null in place of standard streams that are closed. A file of Ferry's that had such a number, if only until it is moved, would take what
/// another thread prints at that moment. Programs that are executed find the streams as they were.
private func occupyStandardStreams() {
    guard (0...2).contains(where: { fcntl($0, F_GETFD) == -1 }) else { return }
    var descriptor: Int32
    repeat { descriptor = open("/dev/null", O_RDWR | O_CLOEXEC) } while (0...2).contains(descriptor)
    if descriptor > 2 { close(descriptor) }
}

/// Which numbers a program's files may have. Linux gives the lowest that is free: a high one shows that many are in use.
package enum DescriptorNumbers {
    private static let ceiling = Atomic<Int32>(.max)

    /// Leaves numbers from one on to sockets, and to what runs the program's threads: libdispatch opens a file each second, and ends a process that
    /// has no number left for it.
    package static func leave(from number: Int) { ceiling.store(Int32(clamping: number), ordering: .relaxed) }

    /// Returns whether an open file shows that half of the numbers are in use.
    package static func areScarce(beside file: OpenFile) -> Bool { file.descriptor >= ceiling.load(ordering: .relaxed) / 2 }

    fileprivate static func limited(_ descriptor: Int32) -> Int32 {
        guard descriptor >= ceiling.load(ordering: .relaxed) else { return descriptor }
        close(descriptor)
        errno = EMFILE
        return -1
    }
}
