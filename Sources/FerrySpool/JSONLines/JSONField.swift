import Glibc

/// A value in a line, where it stands: nothing is copied or decoded until somebody asks.
package struct JSONField: Equatable {
    package enum Kind: UInt8 { case string, number, yes, no, null, object, array }

    package let kind: Kind
    /// The value's bytes in the line; of a string without its quotes.
    package let range: Range<Int>
    /// It holds backslashes.
    package var isEscaped = false

    package init(kind: Kind, range: Range<Int>, isEscaped: Bool = false) {
        self.kind = kind
        self.range = range
        self.isEscaped = isEscaped
    }

    /// The range with a string's quotes.
    package var whole: Range<Int> { kind == .string ? range.lowerBound - 1..<range.upperBound + 1 : range }

    /// The text of a string.
    package func string(_ line: UnsafeBufferPointer<UInt8>) -> String {
        isEscaped ? JSONText.unescaped(line[range]) : String(decoding: line[range], as: UTF8.self)
    }

    /// Whether a string is this text.
    package func equals(_ text: [UInt8], _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard isEscaped else {
            // A line that holds a string is not empty.
            return range.count == text.count && memcmp(line.baseAddress! + range.lowerBound, text, text.count) == 0
        }
        return Array(JSONText.unescaped(line[range]).utf8) == text
    }

    /// A whole number of at most 64 bits, exactly; `nil` for every other number.
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

    /// A number's value.
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

package enum JSONText {
    /// The text that a string's bytes stand for (RFC 8259, section 7).
    package static func unescaped(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        var scalars = String.UnicodeScalarView()
        var plain: [UInt8] = []
        var index = bytes.startIndex
        func flush() {
            scalars.append(contentsOf: String(decoding: plain, as: UTF8.self).unicodeScalars)
            plain = []
        }
        func unit(at start: Int) -> UInt16? {
            // A sign, which numbers may have, is no digit.
            guard start + 4 <= bytes.endIndex, bytes[start] >= UInt8(ascii: "0") else { return nil }
            return UInt16(String(decoding: bytes[start..<start + 4], as: UTF8.self), radix: 16)
        }
        while index < bytes.endIndex {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.endIndex else {
                plain.append(bytes[index])
                index += 1
                continue
            }
            let escape = bytes[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "n"): plain.append(10)
            case UInt8(ascii: "t"): plain.append(9)
            case UInt8(ascii: "r"): plain.append(13)
            case UInt8(ascii: "b"): plain.append(8)
            case UInt8(ascii: "f"): plain.append(12)
            case UInt8(ascii: "u"):
                flush()
                guard let first = unit(at: index) else { continue }
                index += 4
                if UTF16.isLeadSurrogate(first), index + 2 <= bytes.endIndex, bytes[index] == UInt8(ascii: "\\"),
                    let second = unit(at: index + 2), UTF16.isTrailSurrogate(second)
                {
                    index += 6
                    let value = 0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
                    scalars.append(Unicode.Scalar(value) ?? "\u{fffd}")
                } else {
                    scalars.append(Unicode.Scalar(first) ?? "\u{fffd}")
                }
            default: plain.append(escape)
            }
        }
        flush()
        return String(scalars)
    }

    /// Whether escapes of a string are half of a surrogate pair, which no text has.
    package static func hasLoneSurrogate(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var rest = bytes
        var isPairBegun = false
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u") else {
                if isPairBegun { return true }
                continue
            }
            let unit = UInt16(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0
            rest = rest.dropFirst(4)
            if UTF16.isTrailSurrogate(unit) != isPairBegun { return true }
            isPairBegun = UTF16.isLeadSurrogate(unit)
        }
        return isPairBegun
    }

    /// A string with quotes and escapes.
    package static func quoted(_ text: String) -> [UInt8] { Array(text.jsonQuoted.utf8) }
}
