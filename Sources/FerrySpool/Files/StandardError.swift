import Glibc

/// Standard error, for programs and for warnings that no callback takes.
package enum StandardError {
    /// Writes a text in one call, so that lines of several processes do not mix.
    package static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = Glibc.write(2, bytes.baseAddress, bytes.count) }
    }

    /// Writes a line. What a terminal would obey stands escaped.
    package static func print(_ text: String) { write(text.printable() + "\n") }
}
