import ArgumentParser

/// What the commands exit with: the numbers of sysexits(3), where they fit.
enum ExitStatus: Int32 {
    case done = 0
    /// The command line is wrong.
    case usage = 64
    /// Some segments were rejected, or the input is invalid.
    case badData = 65
    /// The spool is disabled.
    case unavailable = 69
    case spoolFull = 73
    /// A local file or folder failed.
    case localFailure = 74
    /// Some segments remain and will be retried.
    case remaining = 75
    /// Stopped: the destination is misconfigured.
    case misconfigured = 77
    /// A configuration file or certificate is bad.
    case badConfiguration = 78
    case interrupted = 130

    var code: ExitCode { ExitCode(rawValue) }
}

/// Ends a command with a message on standard error.
struct CommandFailure: Error, CustomStringConvertible {
    let status: ExitStatus
    /// One line each.
    let messages: [String]

    var message: String { messages.joined(separator: "; ") }
    var description: String { message }

    init(_ status: ExitStatus, _ message: String) { self.init(status, [message]) }

    init(_ status: ExitStatus, _ messages: [String]) {
        self.status = status
        self.messages = messages
    }
}
