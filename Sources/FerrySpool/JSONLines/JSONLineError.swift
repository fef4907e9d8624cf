/// A line that is not a JSON value, and where.
public struct JSONLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// From 1.
    public let line: Int64
    /// In bytes, from 1.
    public let column: Int
    /// What is wrong there, for people.
    public let reason: String

    /// Creates an error.
    public init(line: Int64, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    /// The place and the reason, for people.
    public var description: String { "line \(line), column \(column): \(reason)" }
}
