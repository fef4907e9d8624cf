import FerrySpool
import Logging

/// Lines as people expect them from a command, or as a service writes them, or as JSON.
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
            StandingLine.write(((try? fields.jsonLine()) ?? "{}").printable() + "\n")
            return
        }
        // Names of files and texts of other machines are in it.
        let level: LogLineStyle.Level =
            switch event.level {
            case .critical, .error: .error
            case .warning: .warning
            default: .notice
            }
        let line = Log.style.line(level, "\(event.message)".printable(), at: .now())
        StandingLine.write("\(line)\n")
    }
}
