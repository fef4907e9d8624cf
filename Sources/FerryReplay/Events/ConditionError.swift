/// Why a condition, a field or a setting cannot be read.
public struct ConditionError: Error, Equatable, CustomStringConvertible {
    public let message: String
    /// At which character of the condition, from 1; `nil` where it is not the condition's fault.
    public let column: Int?
    public var description: String { message + (column.map { ", at character \($0) of the condition" } ?? "") }
}
