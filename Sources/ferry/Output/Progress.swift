import FerrySpool
import FerryUpload
import Glibc
import Synchronization

/// Shows a command as it goes: one changing line on a terminal, otherwise a line now and then; and lines for what is unusual.
final class Progress: Sendable {
    private struct State {
        var done = ProgressLine.Amount()
        var lastShown = ContinuousClock.now
    }

    /// Ten times a second is as fast as one can read.
    private static let terminalPause = Duration.milliseconds(100)
    private static let linePause = Duration.seconds(10)
    /// A longer line would be broken, and could not be overwritten.
    private static let barColumns = 100

    private let line: ProgressLine
    private let isShown: Bool
    private let isTerminal: Bool
    private let hasBar: Bool
    private let log: Log
    private let state = Mutex(State())
    private let start = ContinuousClock.now

    /// - Parameter line: What is done, and how much.
    init(_ line: ProgressLine = ProgressLine(verb: "sent"), isShown: Bool, log: Log) {
        self.line = line
        self.isShown = isShown
        isTerminal = isShown && isatty(2) != 0
        var size = winsize()
        hasBar = ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && Int(size.ws_col) >= Self.barColumns
        self.log = log
    }

    func show(_ event: UploadEvent) {
        switch event {
        case .sent(let entry): count(entry.bytes)
        case .rejected(let entry): log.warn("\(entry.segment) is rejected: \(entry.detail ?? "")")
        case .split(let entry): log.note("\(entry.segment) is split: \(entry.detail ?? "")")
        case .backsOff(let segment, let until, let reason):
            log.note("\(segment) failed (\(reason.message)), not to be tried before \(until.rfc3339)")
        case .warning(let text): log.warn(text)
        }
    }

    /// Counts a segment that is done.
    func count(_ bytes: ByteCount) {
        let text = state.withLock { state -> String? in
            state.done.segments = state.done.segments.adding(1)
            state.done.bytes += bytes
            let now = ContinuousClock.now
            guard isShown, now - state.lastShown >= (isTerminal ? Self.terminalPause : Self.linePause) else { return nil }
            state.lastShown = now
            return line.text(state.done, after: now - start, hasBar: isTerminal && hasBar)
        }
        guard let text else { return }
        if isTerminal { StandardError.write("\r\u{1b}[K\(text)") } else { log.note(text) }
    }

    /// Clears the line for what follows.
    func end() {
        if isTerminal { StandardError.write("\r\u{1b}[K") }
    }
}
