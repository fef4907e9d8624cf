import FerrySpool
import Glibc
import Logging

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
