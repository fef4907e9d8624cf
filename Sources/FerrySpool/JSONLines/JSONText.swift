/// Reads and writes the text of JSON strings.
package enum JSONText {
    /// Returns the text that a string's bytes stand for (RFC 8259, section 7).
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

    /// Returns whether escapes of a string are half of a surrogate pair, which no text has.
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

    /// Returns a string with quotes and escapes.
    package static func quoted(_ text: String) -> [UInt8] { Array(text.jsonQuoted.utf8) }
}
