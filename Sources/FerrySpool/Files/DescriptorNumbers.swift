import Glibc
import Synchronization

/// Gives an open file a number behind those of standard input, output and error, and before those that are left to others
/// (``DescriptorNumbers``). A program that has closed the standard streams goes on printing, and what it prints must not go into a file of Ferry's.
///
/// - Parameter descriptor: What opening it returned.
/// - Returns: The descriptor under its new number; -1, with `errno` set, where it could not be opened or there is no number left.
package func behindStandardStreams(_ descriptor: Int32) -> Int32 {
    guard (0...2).contains(descriptor) else { return DescriptorNumbers.limited(descriptor) }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    let code = errno
    close(descriptor)
    errno = code
    return DescriptorNumbers.limited(moved)
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
