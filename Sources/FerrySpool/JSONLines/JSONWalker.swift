import CJSONLines

/// Goes through the bytes of a line of JSON from value to value. What is inside values that are passed over is not looked at.
package struct JSONWalker {
    /// The bytes of the line.
    package let line: UnsafeBufferPointer<UInt8>
    /// The index of the next byte.
    package private(set) var position: Int

    /// Creates a walker at a position in a line.
    package init(_ line: UnsafeBufferPointer<UInt8>, at position: Int = 0) {
        self.line = line
        self.position = position
    }

    /// Passes over bytes up to 0x20: spaces and control characters.
    @inline(__always)
    package mutating func skipSpace() {
        while position < line.count, line[position] <= 0x20 { position += 1 }
    }

    /// Passes over a byte if it is the next one. Returns whether it was.
    @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        guard position < line.count, line[position] == byte else { return false }
        position += 1
        return true
    }

    /// Reads a string; the position is behind it.
    @inline(__always)
    package mutating func string() -> JSONField? {
        guard take(UInt8(ascii: "\"")), let base = line.baseAddress else { return nil }
        let start = position
        var isEscaped: Int32 = 0
        guard let end = ferry_json_string_end(base + start, base + line.count, &isEscaped) else {
            position = line.count
            return nil
        }
        position = end - base + 1
        return JSONField(kind: .string, range: start..<position - 1, isEscaped: isEscaped != 0)
    }

    /// Reads any value.
    package mutating func value() -> JSONField? {
        guard position < line.count else { return nil }
        let start = position
        switch line[position] {
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "{"): return nested().map { JSONField(kind: .object, range: $0) }
        case UInt8(ascii: "["): return nested().map { JSONField(kind: .array, range: $0) }
        case UInt8(ascii: "t"): return word(4, .yes)
        case UInt8(ascii: "f"): return word(5, .no)
        case UInt8(ascii: "n"): return word(4, .null)
        default:
            while position < line.count, Self.isNumber(line[position]) { position += 1 }
            return position > start ? JSONField(kind: .number, range: start..<position) : nil
        }
    }

    private static func isNumber(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E")
    }

    private mutating func word(_ length: Int, _ kind: JSONField.Kind) -> JSONField? {
        guard position + length <= line.count else { return nil }
        position += length
        return JSONField(kind: kind, range: position - length..<position)
    }

    /// Reads an object or array, by its brackets; strings are passed over.
    private mutating func nested() -> Range<Int>? {
        guard let base = line.baseAddress, let end = ferry_json_nested_end(base + position, base + line.count) else {
            position = line.count
            return nil
        }
        defer { position = end - base }
        return position..<end - base
    }

    /// Goes through an object's members, from its brace to the one that closes it.
    ///
    /// - Returns: `false` when it is no object.
    package mutating func forEachMember(_ body: (_ key: JSONField, _ value: JSONField) throws -> Void) rethrows -> Bool {
        skipSpace()
        guard take(UInt8(ascii: "{")) else { return false }
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        while true {
            skipSpace()
            guard let key = string() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            guard let value = value() else { return false }
            try body(key, value)
            skipSpace()
            if take(UInt8(ascii: "}")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    /// Goes through an array's elements, from its bracket to the one that closes it.
    ///
    /// - Returns: `false` when it is no array.
    package mutating func forEachElement(_ body: (JSONField) throws -> Void) rethrows -> Bool {
        skipSpace()
        guard take(UInt8(ascii: "[")) else { return false }
        skipSpace()
        if take(UInt8(ascii: "]")) { return true }
        while true {
            skipSpace()
            guard let value = value() else { return false }
            try body(value)
            skipSpace()
            if take(UInt8(ascii: "]")) { return true }
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }
}
