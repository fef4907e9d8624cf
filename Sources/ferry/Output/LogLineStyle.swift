import FerrySpool
import Glibc

/// How lines on standard error begin.
enum LogLineStyle: Equatable, Sendable {
    /// As people expect them from a command: `ferry: warning: …`.
    case command
    /// With time and level, of a program that runs for long: `2026-11-27T16:33:10.000Z ferry: warning: …`.
    case dated
    /// For journald, which adds the time and the program's name, and takes the level from a number (sd-daemon(3)).
    case journal

    enum Level: String {
        case notice, warning, error

        /// As syslog(3) counts.
        fileprivate var number: Int {
            switch self {
            case .error: 3
            case .warning: 4
            case .notice: 5
            }
        }
    }

    /// Returns the style for a program that runs for long.
    ///
    /// - Parameters:
    ///   - journal: The value of `JOURNAL_STREAM`: device and inode of what journald reads.
    ///   - output: Device and inode of standard error. A child of a service inherits the variable, and may write elsewhere.
    ///   - isTerminal: A person reads it as it comes.
    static func ofService(journal: String?, output: (device: UInt64, inode: UInt64)?, isTerminal: Bool) -> LogLineStyle {
        if let journal, let output, journal == "\(output.device):\(output.inode)" { return .journal }
        return isTerminal ? .command : .dated
    }

    /// The style for this process, when it runs for long.
    static var ofService: LogLineStyle {
        var status = stat()
        let output = fstat(2, &status) == 0 ? (UInt64(status.st_dev), UInt64(status.st_ino)) : nil
        return ofService(
            journal: getenv("JOURNAL_STREAM").map { String(cString: $0) }, output: output, isTerminal: isatty(2) != 0)
    }

    /// Returns a line without its line feed. The message stands there as it is.
    func line(_ level: Level, _ message: String, at now: Timestamp) -> String {
        switch self {
        case .command: "ferry: \(level == .notice ? "" : "\(level.rawValue): ")\(message)"
        case .dated: "\(now.rfc3339) ferry: \(level.rawValue): \(message)"
        case .journal: "<\(level.number)>\(message)"
        }
    }
}
