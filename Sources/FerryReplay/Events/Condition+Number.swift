import FerrySpool

extension Condition {
    /// A number as JSON writes it: whole ones of 64 bits exactly, since IDs and nanoseconds are larger than a double can tell apart; every
    /// other as the nearest double.
    enum Number: Comparable, Sendable {
        case whole(Int128)
        case other(Double)

        /// Reads a number from a line.
        ///
        /// - Returns: `nil` for what is no number.
        init?(_ field: JSONField, _ line: UnsafeBufferPointer<UInt8>) {
            if let whole = field.integer(line) { self = .whole(whole) } else { self.init(field.number(line)) }
        }

        /// Reads a number from a condition.
        ///
        /// - Returns: `nil` for what is no number.
        init?(_ text: String) {
            if let whole = Int128(text) { self = .whole(whole) } else { self.init(Double(text) ?? .nan) }
        }

        private init?(_ value: Double) {
            guard !value.isNaN else { return nil }
            if let whole = Int64(exactly: value) { self = .whole(Int128(whole)) } else { self = .other(value) }
        }

        private var double: Double {
            switch self {
            case .whole(let value): Double(value)
            case .other(let value): value
            }
        }

        static func == (left: Number, right: Number) -> Bool {
            if case .whole(let left) = left, case .whole(let right) = right { return left == right }
            return left.double == right.double
        }

        static func < (left: Number, right: Number) -> Bool {
            if case .whole(let left) = left, case .whole(let right) = right { return left < right }
            return left.double < right.double
        }
    }
}
