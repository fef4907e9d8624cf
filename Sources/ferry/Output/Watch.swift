import FerrySpool
import Glibc

/// Shows a page again and again: in place on a terminal, otherwise one after the other, with an empty line between them.
struct Watch {
    let interval: Duration

    /// Goes on until a signal ends it.
    func run(_ page: () async throws -> StatusPage) async throws {
        let signals = try EarlySignals.take(EarlySignals.ofCommand)
        let isTerminal = isatty(1) != 0
        var isFirst = true
        repeat {
            let lines: [String]
            do { lines = try await page().lines } catch let failure as CommandError where !isFirst {
                // A file system may be mounted again.
                lines = failure.messages.map { "ferry: error: \($0)".printable() }
            }
            if isTerminal {
                try show(Self.screen(lines, rows: Self.rows()))
            } else {
                if !isFirst { try StandardOutput.print("") }
                for line in lines { try StandardOutput.printEscaped(line) }
                try StandardOutput.flush()
            }
            isFirst = false
        } while await !Self.isSignalled(signals, within: interval)
    }

    /// Returns the text that puts lines in place of what a terminal shows, as many as it has rows for.
    ///
    /// - Parameter rows: How many rows the terminal has; `nil`: that is not known.
    static func screen(_ lines: [String], rows: Int?) -> String {
        var shown = lines[...]
        if let rows, rows > 1, lines.count >= rows {
            // The last row holds the cursor.
            shown = lines.prefix(rows - 2)
        }
        let more = lines.count - shown.count
        let text = shown.map { $0 + "\u{1b}[K\n" }.joined() + (more > 0 ? "… \(more) more lines\u{1b}[K\n" : "")
        // What is wider than the terminal is cut there: a line is a row, and the most troubling ones stay at the top.
        return "\u{1b}[?7l\u{1b}[H" + text + "\u{1b}[J\u{1b}[?7h"
    }

    private func show(_ text: String) throws {
        var text = text
        try text.withUTF8 { try StandardOutput.write(UnsafeRawBufferPointer($0)) }
        try StandardOutput.flush()
    }

    private static func rows() -> Int? {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_row > 0 ? Int(size.ws_row) : nil
    }

    private static func isSignalled(_ signals: SignalQueue, within time: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await signals.next() != nil }
            group.addTask {
                try? await Task.sleep(for: time)
                return false
            }
            let isSignalled = await group.next() ?? false
            group.cancelAll()
            return isSignalled
        }
    }
}
