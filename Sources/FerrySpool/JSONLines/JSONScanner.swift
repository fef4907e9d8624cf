/// Checks that bytes are one JSON value (RFC 8259) in valid UTF-8 (RFC 3629), fed in any pieces, without building anything.
///
/// A state machine by hand, because every byte that is written or received passes through it.
struct JSONScanner {
    /// Deeper values are refused: parsers that recurse would break on them.
    static let maximumDepth = 512

    private enum State: UInt8 {
        case value, firstElement, firstKey, key, colon, afterValue
        case string, escape, unicodeEscape, utf8Tail
        case literal
        case minus, zero, integer, point, fraction, exponent, exponentSign, exponentDigits
    }

    private var state = State.value
    private var depth = 0
    /// One bit a level: 1 for an object, 0 for an array.
    private var levels = InlineArray<8, UInt64>(repeating: 0)
    private var isKey = false
    private var hexDigitsLeft = 0
    private var literalRest: ArraySlice<UInt8> = []
    private var tailBytesLeft = 0
    private var tailRange: ClosedRange<UInt8> = 0x80...0xbf
    /// Why the last ``feed(_:)`` stopped.
    private(set) var reason = ""

    /// Whether nothing but white space was seen.
    private(set) var isBlank = true

    mutating func reset() {
        state = .value
        depth = 0
        isBlank = true
    }

    /// Looks at a piece. Returns the index of the first byte that cannot be, `nil` when all can.
    mutating func feed(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
        var position = 0
        let end = bytes.count
        while position < end {
            if state == .string {
                position = bytes.endOfPlainText(from: position)
                if position == end { break }
            }
            guard step(bytes[position]) else { return position }
            position += 1
        }
        return nil
    }

    /// Returns whether the bytes so far are a whole value. Sets ``reason`` when they are not.
    mutating func finish() -> Bool {
        switch state {
        case .afterValue where depth == 0: return true
        case .zero, .integer, .fraction, .exponentDigits:
            if depth == 0 { return true }
        default: break
        }
        reason =
            isInString
            ? "the string is not closed"
            : depth > 0 ? "the line ends inside \(inObject ? "an object" : "an array")" : "the value is not complete"
        return false
    }

    private var isInString: Bool {
        switch state {
        case .string, .escape, .unicodeEscape, .utf8Tail: true
        default: false
        }
    }

    private var inObject: Bool { levels[(depth - 1) >> 6] >> UInt64((depth - 1) & 63) & 1 == 1 }

    private mutating func refuse(_ why: String) -> Bool {
        reason = why
        return false
    }

    private mutating func step(_ byte: UInt8) -> Bool {
        switch state {
        case .string: return stepInString(byte)
        case .afterValue: return stepAfterValue(byte)
        case .value: return byte.isJSONSpace || startValue(byte)
        case .firstElement:
            if byte == UInt8(ascii: "]") { return close(object: false) }
            return byte.isJSONSpace || startValue(byte)
        case .firstKey:
            if byte == UInt8(ascii: "}") { return close(object: true) }
            return startKey(byte)
        case .key: return startKey(byte)
        case .colon:
            if byte == UInt8(ascii: ":") {
                state = .value
                return true
            }
            return byte.isJSONSpace || refuse("':' is missing after a key")
        case .escape:
            switch byte {
            case UInt8(ascii: "u"):
                state = .unicodeEscape
                hexDigitsLeft = 4
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                state = .string
            default: return refuse("no such escape in a string")
            }
            return true
        case .unicodeEscape:
            guard byte.isHexDigit else { return refuse("\\u needs four hexadecimal digits") }
            hexDigitsLeft -= 1
            if hexDigitsLeft == 0 { state = .string }
            return true
        case .utf8Tail:
            guard tailRange.contains(byte) else { return refuse("not UTF-8") }
            tailRange = 0x80...0xbf
            tailBytesLeft -= 1
            if tailBytesLeft == 0 { state = .string }
            return true
        case .literal:
            guard byte == literalRest.first else { return refuse("neither true, false nor null") }
            literalRest.removeFirst()
            if literalRest.isEmpty { state = .afterValue }
            return true
        default: return stepInNumber(byte)
        }
    }

    private mutating func stepInString(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""): state = isKey ? .colon : .afterValue
        case UInt8(ascii: "\\"): state = .escape
        case 0x20..<0x80: break
        case 0..<0x20: return refuse("a control character in a string must be escaped")
        // The well-formed sequences of RFC 3629, section 4: no overlong forms, no surrogates, nothing above U+10FFFF.
        case 0xc2...0xdf: startTail(1, 0x80...0xbf)
        case 0xe0: startTail(2, 0xa0...0xbf)
        case 0xed: startTail(2, 0x80...0x9f)
        case 0xe1...0xef: startTail(2, 0x80...0xbf)
        case 0xf0: startTail(3, 0x90...0xbf)
        case 0xf1...0xf3: startTail(3, 0x80...0xbf)
        case 0xf4: startTail(3, 0x80...0x8f)
        default: return refuse("not UTF-8")
        }
        return true
    }

    private mutating func startTail(_ count: Int, _ range: ClosedRange<UInt8>) {
        state = .utf8Tail
        tailBytesLeft = count
        tailRange = range
    }

    private mutating func startKey(_ byte: UInt8) -> Bool {
        if byte == UInt8(ascii: "\"") {
            state = .string
            isKey = true
            return true
        }
        return byte.isJSONSpace || refuse("a key in quotes is missing")
    }

    private mutating func startValue(_ byte: UInt8) -> Bool {
        isBlank = false
        switch byte {
        case UInt8(ascii: "\""):
            state = .string
            isKey = false
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < Self.maximumDepth else { return refuse("nested more than \(Self.maximumDepth) deep") }
            let isObject = byte == UInt8(ascii: "{")
            let bit = UInt64(1) << UInt64(depth & 63)
            if isObject { levels[depth >> 6] |= bit } else { levels[depth >> 6] &= ~bit }
            depth += 1
            state = isObject ? .firstKey : .firstElement
        case UInt8(ascii: "-"): state = .minus
        case UInt8(ascii: "0"): state = .zero
        case UInt8(ascii: "1")...UInt8(ascii: "9"): state = .integer
        case UInt8(ascii: "t"): startLiteral(Self.trueRest)
        case UInt8(ascii: "f"): startLiteral(Self.falseRest)
        case UInt8(ascii: "n"): startLiteral(Self.nullRest)
        default: return refuse("not a JSON value")
        }
        return true
    }

    private static let trueRest = Array("rue".utf8)[...]
    private static let falseRest = Array("alse".utf8)[...]
    private static let nullRest = Array("ull".utf8)[...]

    private mutating func startLiteral(_ rest: ArraySlice<UInt8>) {
        state = .literal
        literalRest = rest
    }

    private mutating func stepAfterValue(_ byte: UInt8) -> Bool {
        guard depth > 0 else { return byte.isJSONSpace || refuse("something follows the value") }
        switch byte {
        case UInt8(ascii: ","):
            state = inObject ? .key : .value
            return true
        case UInt8(ascii: "}"): return close(object: true)
        case UInt8(ascii: "]"): return close(object: false)
        default: return byte.isJSONSpace || refuse("',' or \(inObject ? "'}'" : "']'") is missing")
        }
    }

    private mutating func close(object: Bool) -> Bool {
        guard inObject == object else { return refuse("the bracket does not match") }
        depth -= 1
        state = .afterValue
        return true
    }

    private mutating func stepInNumber(_ byte: UInt8) -> Bool {
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        let isExponent = byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
        switch state {
        case .minus where isDigit: state = byte == UInt8(ascii: "0") ? .zero : .integer
        case .integer where isDigit, .fraction where isDigit, .exponentDigits where isDigit: break
        case .zero where byte == UInt8(ascii: "."), .integer where byte == UInt8(ascii: "."): state = .point
        case .point where isDigit: state = .fraction
        case .zero where isExponent, .integer where isExponent, .fraction where isExponent: state = .exponent
        case .exponent where byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"): state = .exponentSign
        case .exponent where isDigit, .exponentSign where isDigit: state = .exponentDigits
        case .zero where isDigit: return refuse("a number must not start with 0")
        case .zero, .integer, .fraction, .exponentDigits:
            state = .afterValue
            return stepAfterValue(byte)
        default: return refuse("a digit is missing")
        }
        return true
    }
}

extension UInt8 {
    fileprivate var isJSONSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0d || self == 0x0a }

    fileprivate var isHexDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the first index from `start` on whose byte ends a run of printable ASCII without quote and backslash.
    ///
    /// Eight bytes at a time, by the zero-byte test of "Bit Twiddling Hacks": most bytes of events are in strings.
    package func endOfPlainText(from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        guard let baseAddress else { return start }
        let raw = UnsafeRawPointer(baseAddress)
        var position = start
        while position + 8 <= count {
            let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let quotes = word ^ (ones &* 0x22)
            let slashes = word ^ (ones &* 0x5c)
            let special =
                ((quotes &- ones) & ~quotes) | ((slashes &- ones) & ~slashes) | ((word &- ones &* 0x20) & ~word) | word
            if special & highs != 0 { break }
            position += 8
        }
        while position < count {
            let byte = self[position]
            if byte < 0x20 || byte >= 0x80 || byte == 0x22 || byte == 0x5c { break }
            position += 1
        }
        return position
    }
}
