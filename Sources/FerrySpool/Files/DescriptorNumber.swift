import Glibc

/// Gives an open file a number behind those of standard input, output and error. A program that has closed these goes on printing, and what
/// it prints must not go into a file of Ferry's.
///
/// - Parameter descriptor: What opening it returned.
/// - Returns: The descriptor under its new number; -1, with `errno` set, where it could not be opened or there is no number left.
package func behindStandardStreams(_ descriptor: Int32) -> Int32 {
    guard (0...2).contains(descriptor) else { return descriptor }
    let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    let code = errno
    close(descriptor)
    errno = code
    return moved
}
