import FerrySpool
import Glibc
import Synchronization

/// The line that changes in place on a terminal: one for the process, and below everything else. What else is written removes it first.
enum StandingLine {
    private static let text = Mutex("")
    /// Outside of the lock, for those that cannot wait for it.
    private static let stands = Atomic<Bool>(false)

    /// What removes a line: the cursor goes to its start, and what is behind that is cleared.
    private static let removal = "\r\u{1b}[K"

    /// Returns whether there may be such a line: standard error is a terminal that moves its cursor.
    static var isPossible: Bool {
        guard isatty(2) != 0, let name = getenv("TERM") else { return false }
        return !["", "dumb"].contains(String(cString: name))
    }

    /// How wide the terminal is now.
    static var columns: Int {
        var size = winsize()
        return ioctl(2, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// Whether the shell has put the command into the background: the terminal is another one's now.
    private static var isInBackground: Bool {
        let group = tcgetpgrp(2)
        return group > 0 && group != getpgrp()
    }

    /// Shows a text in place of the line's.
    static func show(_ text: String) {
        guard !isInBackground else { return }
        Self.text.withLock { shown in
            if !stands.exchange(true, ordering: .relaxed) {
                removeAtDeath()
            } else if shown == text {
                return
            }
            shown = text
            // The end is cleared last: the line does not flicker.
            StandardError.write("\r\(text)\u{1b}[K")
        }
    }

    /// Removes the line.
    static func remove() { text.withLock { _ in clear() } }

    /// Writes a text to standard error.
    static func write(_ text: String) {
        Self.text.withLock { _ in StandardError.write((stands.exchange(false, ordering: .relaxed) ? removal : "") + text) }
    }

    /// Writes a text to standard error without waiting for anything.
    static func writeLast(_ text: String) { StandardError.write((stands.load(ordering: .relaxed) ? removal : "") + text) }

    private static let hasOutput = isatty(1) != 0

    /// Calls `body`, which writes to standard output. That may be the same terminal.
    static func away<Result>(_ body: () throws -> Result) rethrows -> Result {
        guard hasOutput else { return try body() }
        return try text.withLock { _ in
            clear()
            return try body()
        }
    }

    private static func clear() { if stands.exchange(false, ordering: .relaxed) { StandardError.write(removal) } }

    /// Has the signals that end the process remove the line first, where the command does not hear them itself.
    private static func removeAtDeath() {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            var action = sigaction()
            guard sigaction(number, nil, &action) == 0, unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
            else { continue }
            signal(number) { number in
                // Only what a handler may do: no lock, no memory.
                var bytes: (UInt8, UInt8, UInt8, UInt8) = (0x0d, 0x1b, 0x5b, 0x4b)
                _ = Glibc.write(2, &bytes, 4)
                signal(number, SIG_DFL)
                raise(number)
            }
        }
    }
}
