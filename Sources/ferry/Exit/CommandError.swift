import FerrySpool

/// Ends a command with a message on standard error.
struct CommandError: Error, CustomStringConvertible {
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

extension CommandError {
    /// A file or folder that failed.
    init(_ error: FileError) { self.init(ExitStatus(error), error.description) }
}
