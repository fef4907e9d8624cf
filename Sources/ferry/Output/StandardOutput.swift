import FerrySpool
import Glibc
import Synchronization

/// Results. Buffered, so that a million lines are not a million writes.
enum StandardOutput {
    private static let buffer = Mutex<[UInt8]>([])
    private static let bufferSize = 1 << 16

    /// Prints a line. What a terminal would obey, in the name of a file or a text of another machine, stands escaped, which leaves JSON
    /// the same JSON.
    static func print(_ text: String) throws {
        var line = text.printable() + "\n"
        try line.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    /// Prints a line that is escaped already, and has colours.
    static func printEscaped(_ text: String) throws {
        var line = text + "\n"
        try line.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer) throws {
        try buffer.withLock { buffer in
            buffer.append(contentsOf: bytes)
            if buffer.count >= bufferSize { try empty(&buffer) }
        }
    }

    /// Whether what is printed goes into a file.
    static var isRegularFile: Bool {
        var output = stat()
        return fstat(1, &output) == 0 && output.st_mode & S_IFMT == S_IFREG
    }

    /// Whether what is printed is thrown away.
    static var isNullDevice: Bool {
        var (output, null) = (stat(), stat())
        guard fstat(1, &output) == 0, stat("/dev/null", &null) == 0 else { return false }
        return output.st_mode & S_IFMT == S_IFCHR && output.st_rdev == null.st_rdev
    }

    static func flush() throws {
        try buffer.withLock { try empty(&$0) }
    }

    private static func empty(_ buffer: inout [UInt8]) throws { try StandingLine.away { try writeAll(&buffer) } }

    private static func writeAll(_ buffer: inout [UInt8]) throws {
        var written = 0
        while written < buffer.count {
            let count = buffer.withUnsafeBytes { Glibc.write(1, $0.baseAddress! + written, $0.count - written) }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw CommandError(.localFailure, "cannot write standard output: \(String(cString: strerror(errno)))")
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
