import FerrySpool
import Glibc

/// Where a warning goes that no callback takes.
enum StandardError {
    static func print(_ text: String) {
        let line = Array((text.printable() + "\n").utf8)
        _ = write(2, line, line.count)
    }
}
