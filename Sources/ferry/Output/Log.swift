import FerrySpool
import Logging
import Synchronization

/// What commands say on standard error. Results go to standard output.
struct Log: Sendable {
    let isQuiet: Bool

    /// Prints something that a person may want to know.
    ///
    /// - Parameter about: For programs that read the log as JSON.
    func note(_ message: String, about: [String: String] = [:]) {
        if !isQuiet { Self.logger.notice("\(message)", metadata: about.mapValues { .string($0) }) }
    }

    /// Prints something that went wrong, though the command goes on.
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

    private static let chosenStyle = Mutex(LogLineStyle.command)

    /// How lines begin that are no JSON, for the whole process.
    static var style: LogLineStyle {
        get { chosenStyle.withLock { $0 } }
        set { chosenStyle.withLock { $0 = newValue } }
    }
}
