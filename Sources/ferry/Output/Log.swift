import FerrySpool
import Glibc
import Logging
import Synchronization

/// What commands say on standard error. Results go to standard output.
struct Log: Sendable {
    let isQuiet: Bool

    /// Something that a person may want to know.
    ///
    /// - Parameter about: For programs that read the log as JSON.
    func note(_ message: String, about: [String: String] = [:]) {
        if !isQuiet { Self.logger.notice("\(message)", metadata: about.mapValues { .string($0) }) }
    }

    /// Something that went wrong, though the command goes on.
    func warn(_ message: String, about: [String: String] = [:]) {
        Self.logger.warning("\(message)", metadata: about.mapValues { .string($0) })
    }

    func error(_ message: String, about: [String: String] = [:]) {
        Self.logger.error("\(message)", metadata: about.mapValues { .string($0) })
    }

    static let logger: Logger = {
        LoggingSystem.bootstrap { _ in LineLogHandler() }
        return Logger(label: "ferry")
    }()

    private static let isJSON = Atomic<Bool>(false)

    /// Whether lines are JSON, for the whole process.
    static var writesJSON: Bool {
        get { isJSON.load(ordering: .relaxed) }
        set { isJSON.store(newValue, ordering: .relaxed) }
    }
}

/// Lines as people expect them from a command, `ferry: warning: …`, or as JSON.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if Log.writesJSON {
            var fields = ["at": Timestamp.now().rfc3339, "level": event.level.rawValue, "message": "\(event.message)"]
            for (key, value) in event.metadata ?? [:] { fields[key] = "\(value)" }
            StandardError.write(((try? fields.jsonLine()) ?? "{}").printable() + "\n")
            return
        }
        let level =
            switch event.level {
            case .critical, .error: "error: "
            case .warning: "warning: "
            default: ""
            }
        // A progress line may stand there.
        let clear = isatty(2) != 0 ? "\r\u{1b}[K" : ""
        // Names of files and texts of other machines are in it.
        StandardError.write("\(clear)ferry: \(level)\("\(event.message)".printable())\n")
    }
}

enum StandardError {
    /// One write a line, so that lines of several processes do not mix.
    static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in _ = Glibc.write(2, bytes.baseAddress, bytes.count) }
    }
}
