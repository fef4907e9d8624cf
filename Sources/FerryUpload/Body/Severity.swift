import FerrySpool

/// How bad an event is, by the numbers of OpenTelemetry's logs data model ("Field: SeverityNumber").
struct Severity: Equatable {
    let number: Int
    /// As its source has it.
    let text: String

    /// Takes a word that loggers use, in any case; `nil` for another one.
    init?(word: String) {
        guard word.utf8.count <= 16, let number = Self.numbers[word.lowercased()] else { return nil }
        (self.number, text) = (number, word)
    }

    /// Takes the priority of a segment. It tells how urgent its events are, and of all but critical ones nothing of how bad.
    init(_ priority: Priority) { (number, text) = priority == .critical ? (17, "ERROR") : (9, "INFO") }

    /// The words of syslog as that model maps them, and those of common loggers.
    private static let numbers = [
        "trace": 1, "debug": 5, "info": 9, "information": 9, "informational": 9, "notice": 10, "warn": 13, "warning": 13,
        "err": 17, "error": 17, "crit": 18, "critical": 18, "alert": 19, "fatal": 21, "panic": 21, "emerg": 21, "emergency": 21,
    ]
}
