import Dispatch
import FerrySpool
import Glibc

/// Makes SIGINT and SIGTERM something that a blocking reader can wait for together with its input.
final class SignalPipe {
    private let readEnd: Int32
    private let sources: [any DispatchSourceSignal]

    init() {
        var ends: [Int32] = [0, 0]
        let status = pipe(&ends)
        precondition(status == 0, "a process with three open files can open two more")
        readEnd = ends[0]
        let writeEnd = ends[1]
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { _ = Glibc.write(writeEnd, "!", 1) }
            source.resume()
            return source
        }
    }

    enum Wake { case readable, timedOut, interrupted }

    /// Waits for input, a signal or a moment, whatever comes first.
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
