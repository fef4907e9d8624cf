import FerrySpool
import Glibc

/// Where the handler writes. Set before a handler is installed, and only ever to the end of another pipe: a handler sees one or the other.
private nonisolated(unsafe) var handlerEnd: Int32 = -1

/// Makes signals bytes on a pipe, something that can be waited for together with other input.
///
/// The handler is there from one moment to the next: before it a signal ends the process as ever, after it none is lost. Ignoring a signal
/// first, as a dispatch source needs it, would lose what comes in between.
final class SignalPipe: Sendable {
    let readEnd: Int32

    init(_ numbers: [Int32]) throws(CommandError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CommandError(.localFailure, FileError("open", "a pipe for signals").description) }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = ends[0]
        handlerEnd = ends[1]
        var mask = sigset_t()
        sigemptyset(&mask)
        for number in numbers {
            sigaddset(&mask, number)
            // glibc's signal(3) keeps the handler, and restarts what it interrupts.
            signal(number) { number in
                let code = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = Glibc.write(handlerEnd, &byte, 1)
                errno = code
            }
        }
        // The program that started the process may have blocked them.
        pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    /// Returns the signals that have come, in their order.
    func received() -> [Int32] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = Glibc.read(readEnd, &bytes, bytes.count)
        return count > 0 ? bytes[..<count].map { Int32($0) } : []
    }

    enum Wake { case readable, timedOut, interrupted }

    /// Waits for input, a signal or a moment, the first of them.
    func wait(for file: OpenFile, until moment: ContinuousClock.Instant?) -> Wake {
        while true {
            var files = [
                pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: file.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let milliseconds = moment.map { max(0, min(($0 - .now).wholeMilliseconds, 1 << 30) + 1) } ?? -1
            let count = poll(&files, 2, Int32(milliseconds))
            if count > 0 { return files[0].revents != 0 ? .interrupted : .readable }
            if count == 0 { return .timedOut }
        }
    }
}
