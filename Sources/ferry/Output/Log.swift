import FerrySpool
import Glibc
import Logging

/// What commands say on standard error. Results go to standard output.
struct Log: Sendable {
    let isQuiet: Bool

    /// Something that a person may want to know.
    func note(_ message: String) {
        if !isQuiet { Self.logger.notice("\(message)") }
    }

    /// Something that went wrong, though the command goes on.
    func warn(_ message: String) { Self.logger.warning("\(message)") }

    func error(_ message: String) { Self.logger.error("\(message)") }

    static let logger: Logger = {
        LoggingSystem.bootstrap { _ in PlainLogHandler() }
        return Logger(label: "ferry")
    }()
}

/// Lines as people expect them from a command: `ferry: warning: …`.
struct PlainLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let level =
            switch event.level {
            case .critical, .error: "error: "
            case .warning: "warning: "
            default: ""
            }
        // A progress line may stand there.
        let clear = isatty(2) != 0 ? "\r\u{1b}[K" : ""
        StandardError.write("\(clear)ferry: \(level)\(event.message)\n")
    }
}

enum StandardError {
    /// One write a line, so that lines of several processes do not mix.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = Glibc.write(2, bytes.baseAddress, bytes.count) }
    }
}
