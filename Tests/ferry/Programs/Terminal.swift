import Foundation
import Synchronization
import TestSupport

/// A terminal of a test's own: it keeps what is written to it, and knows what a person sees of it.
final class Terminal: Sendable {
    /// What programs open.
    let path: String
    let columns: Int
    private let own: Int32
    /// Keeps the terminal while no program has it open.
    private let other: Int32
    private let bytes = Mutex<[UInt8]>([])

    /// Open the other side, and ask for its number (ioctl_tty(2)); Glibc's module lacks them.
    private static let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    init(columns: Int) throws {
        self.columns = columns
        own = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, number): (Int32, UInt32) = (0, 0)
        guard own >= 0, ioctl(own, Self.unlock, &locked) == 0, ioctl(own, Self.number, &number) == 0 else {
            throw InVain(what: "a terminal: \(String(cString: strerror(errno)))")
        }
        path = "/dev/pts/\(number)"
        other = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        guard other >= 0, ioctl(own, UInt(TIOCSWINSZ), &size) == 0, fcntl(own, F_SETFL, O_NONBLOCK) == 0 else {
            throw InVain(what: "a terminal: \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        close(own)
        close(other)
    }

    /// Everything that was written until now.
    var written: String {
        bytes.withLock { bytes in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(own, &buffer, buffer.count)
                guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
                bytes += buffer[..<count]
            }
        }
    }

    /// What a person sees, and what was to be seen in place of it for a while.
    struct Screen {
        /// The lines that stand there, without empty ones.
        var rows: [String] = []
        /// The lines that were replaced or removed.
        var former: [String] = []
        /// How many lines were longer than the terminal is wide.
        var wrapped = 0
        /// What the terminal was told beside going to the start of a line and clearing to its end.
        var others: [String] = []
    }

    /// Obeys what was written.
    var screen: Screen {
        var screen = Screen()
        var row: [Character] = []
        var column = 0
        var rest = Substring(written.replacing("\r\n", with: "\n"))
        while let character = rest.popFirst() {
            switch character {
            case "\r":
                if !row.isEmpty { screen.former.append(String(row)) }
                column = 0
            case "\n":
                if !row.isEmpty { screen.rows.append(String(row)) }
                (row, column) = ([], 0)
            case "\u{1b}":
                let command = rest.prefix(2)
                rest = rest.dropFirst(2)
                if command == "[K" {
                    row.removeSubrange(min(column, row.count)...)
                } else {
                    screen.others.append(String(command))
                }
            default:
                if column == columns {
                    screen.wrapped += 1
                    screen.rows.append(String(row))
                    (row, column) = ([], 0)
                }
                if column < row.count { row[column] = character } else { row.append(character) }
                column += 1
            }
        }
        if !row.isEmpty { screen.rows.append(String(row)) }
        return screen
    }
}
