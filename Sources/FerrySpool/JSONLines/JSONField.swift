import Glibc

/// A value in a line, where it stands: nothing is copied or decoded until the caller asks.
package struct JSONField: Equatable {
    /// The type of a JSON value; `yes` and `no` are `true` and `false`.
    package enum Kind: UInt8 { case string, number, yes, no, null, object, array }

    /// The type of the value.
    package let kind: Kind
    /// The value's bytes in the line; of a string without its quotes.
    package let range: Range<Int>
    /// It holds backslashes.
    package var isEscaped = false

    /// Creates a field.
    package init(kind: Kind, range: Range<Int>, isEscaped: Bool = false) {
        self.kind = kind
        self.range = range
        self.isEscaped = isEscaped
    }

    /// The range with a string's quotes.
    package var whole: Range<Int> { kind == .string ? range.lowerBound - 1..<range.upperBound + 1 : range }

    /// Returns the text of a string.
    package func string(_ line: UnsafeBufferPointer<UInt8>) -> String {
        isEscaped ? JSONText.unescaped(line[range]) : String(decoding: line[range], as: UTF8.self)
    }

    /// Returns whether a string is this text.
    package func equals(_ text: [UInt8], _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isEscaped else {
            // A line that holds a string is not empty.
            return range.count == text.count && memcmp(line.baseAddress! + range.lowerBound, text, text.count) == 0
        }
        return Array(JSONText.unescaped(line[range]).utf8) == text
    }

    /// Returns a whole number of at most 64 bits, exactly; `nil` for every other number.
    package func integer(_ line: UnsafeBufferPointer<UInt8>) -> Int128? {
        var position = range.lowerBound
        let isNegative = line[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        guard position < range.upperBound else { return nil }
        var magnitude: UInt64 = 0
        while position < range.upperBound {
            let digit = line[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (tens, isLarge) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(UInt64(digit))
            guard !isLarge, !isLarger else { return nil }
            magnitude = sum
            position += 1
        }
        return isNegative ? -Int128(magnitude) : Int128(magnitude)
    }

    /// Returns a number's value.
    package func number(_ line: UnsafeBufferPointer<UInt8>) -> Double {
        var integer: Int64 = 0
        var position = range.lowerBound
        let isNegative = line[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        while position < range.upperBound, position - range.lowerBound < 18, line[position] &- UInt8(ascii: "0") < 10 {
            integer = integer * 10 + Int64(line[position] &- UInt8(ascii: "0"))
            position += 1
        }
        if position == range.upperBound { return Double(isNegative ? -integer : integer) }
        return Double(String(decoding: line[range], as: UTF8.self)) ?? .nan
    }
}
