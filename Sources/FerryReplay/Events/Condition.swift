import FerrySpool

/// Which events: `name == "Purchase" && properties.total > 10`.
///
/// Comparisons `== != < <= > >=` of a path with a string, a number, `true`, `false` or `null`; `contains` and `starts` for strings; `exists`
/// before a path; `!`, `&&`, `||` and parentheses. What is missing, or of another type, equals nothing but `null` and is in no order.
indirect enum Condition: Equatable, Sendable {
    enum Comparison: String, Sendable {
        case equal = "==", unequal = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">=", contains, starts
    }

    enum Literal: Equatable, Sendable {
        case text([UInt8])
        case number(Number)
        case boolean(Bool)
        case null
    }

    case compare(field: Int, Comparison, Literal)
    case exists(field: Int)
    case not(Condition)
    /// Side by side, however many: a long row is no deep tree.
    case all([Condition])
    case any([Condition])

    /// Returns whether the condition holds for a line.
    ///
    /// - Parameter fields: The values of the paths, as they were found in the line.
    func holds(_ fields: [JSONField?], _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        switch self {
        case .all(let conditions): conditions.allSatisfy { $0.holds(fields, line) }
        case .any(let conditions): conditions.contains { $0.holds(fields, line) }
        case .not(let condition): !condition.holds(fields, line)
        case .exists(let field): fields[field] != nil
        case .compare(let field, let comparison, let literal): Self.compare(fields[field], comparison, literal, line)
        }
    }

    private static func compare(
        _ field: JSONField?, _ comparison: Comparison, _ literal: Literal, _ line: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        switch comparison {
        case .equal: return equals(field, literal, line)
        case .unequal: return !equals(field, literal, line)
        case .contains, .starts:
            guard let field, field.kind == .string, case .text(let text) = literal else { return false }
            let value = field.string(line)
            let wanted = String(decoding: text, as: UTF8.self)
            // As text is written: in Hindi or Thai, and with emoji, a character that a person sees may be several, and one of them is wanted.
            return comparison == .contains
                ? wanted.isEmpty || value.utf8.firstRange(of: wanted.utf8) != nil : value.utf8.starts(with: wanted.utf8)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard let field else { return false }
            switch (field.kind, literal) {
            case (.number, .number(let number)):
                guard let value = Number(field, line) else { return false }
                return isOrdered(value, number, comparison)
            // By code points, so that RFC 3339 times in one zone are in order.
            case (.string, .text(let text)):
                return isOrdered(field.string(line), String(decoding: text, as: UTF8.self), comparison)
            default: return false
            }
        }
    }

    private static func equals(_ field: JSONField?, _ literal: Literal, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let field else { return literal == .null }
        switch (field.kind, literal) {
        case (.string, .text(let text)): return field.equals(text, line)
        case (.number, .number(let number)): return Number(field, line) == number
        case (.yes, .boolean(let value)): return value
        case (.no, .boolean(let value)): return !value
        case (.null, .null): return true
        default: return false
        }
    }

    private static func isOrdered<Value: Comparable>(_ left: Value, _ right: Value, _ comparison: Comparison) -> Bool {
        switch comparison {
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .equal, .unequal, .contains, .starts: false
        }
    }
}
