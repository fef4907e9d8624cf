/// A line that is not a JSON value, and where.
public struct JSONLineError: Error, Equatable, Sendable, CustomStringConvertible {
    /// From 1.
    public let line: Int64
    /// In bytes, from 1.
    public let column: Int
    public let reason: String

    public init(line: Int64, column: Int, reason: String) {
        self.line = line
        self.column = column
        self.reason = reason
    }

    public var description: String { "line \(line), column \(column): \(reason)" }
}
