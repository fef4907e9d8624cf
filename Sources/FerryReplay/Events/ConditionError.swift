/// Why a condition, a field or a setting cannot be read.
public struct ConditionError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, for people.
    public let message: String
    /// At which character of the condition, from 1; `nil` where it is not the condition's fault.
    public let column: Int?
    /// The message, and the place where it is known.
    public var description: String { message + (column.map { ", at character \($0) of the condition" } ?? "") }
}
