import Glibc

/// Finds the values of some paths in a line of JSON, in one walk over its bytes that skips everything else.
struct FieldExtractor {
    /// At most 64.
    let paths: [FieldPath]
    private let components: [[[UInt8]]]

    init(_ paths: [FieldPath]) {
        precondition(paths.count <= 64)
        self.paths = paths
        components = paths.map { $0.components.map { Array($0.utf8) } }
    }

    /// - Parameter fields: One for each path; `nil` where the line has no such value. Of keys that are there twice the last counts.
    /// - Returns: `false` when the line is no JSON object; what is inside values that are skipped is not looked at.
    func extract(_ line: UnsafeBufferPointer<UInt8>, into fields: inout [JSONField?]) -> Bool {
        for index in fields.indices { fields[index] = nil }
        var walker = Walker(line: line)
        walker.skipSpace()
        guard walker.take(UInt8(ascii: "{")) else { return false }
        let all = paths.count == 64 ? UInt64.max : (1 << UInt64(paths.count)) - 1
        return walk(&walker, wanted: all, depth: 0, &fields)
    }

    /// Walks an object's members, its brace taken.
    private func walk(_ walker: inout Walker, wanted: UInt64, depth: Int, _ fields: inout [JSONField?]) -> Bool {
        walker.skipSpace()
        if walker.take(UInt8(ascii: "}")) { return true }
        while true {
            walker.skipSpace()
            guard let key = walker.string() else { return false }
            walker.skipSpace()
            guard walker.take(UInt8(ascii: ":")) else { return false }
            walker.skipSpace()
            var matching: UInt64 = 0
            var deeper: UInt64 = 0
            var rest = wanted
            while rest != 0 {
                let index = rest.trailingZeroBitCount
                rest &= rest - 1
                let path = components[index]
                guard key.equals(path[depth], walker.line) else { continue }
                if path.count == depth + 1 { matching |= 1 << UInt64(index) } else { deeper |= 1 << UInt64(index) }
            }
            let start = walker.position
            if deeper != 0, walker.take(UInt8(ascii: "{")) {
                guard walk(&walker, wanted: deeper, depth: depth + 1, &fields) else { return false }
                record(JSONField(kind: .object, range: start..<walker.position), matching, &fields)
            } else {
                guard let value = walker.value() else { return false }
                record(value, matching, &fields)
            }
            walker.skipSpace()
            if walker.take(UInt8(ascii: "}")) { return true }
            guard walker.take(UInt8(ascii: ",")) else { return false }
        }
    }

    private func record(_ field: JSONField, _ matching: UInt64, _ fields: inout [JSONField?]) {
        var rest = matching
        while rest != 0 {
            fields[rest.trailingZeroBitCount] = field
            rest &= rest - 1
        }
    }

    private struct Walker {
        let line: UnsafeBufferPointer<UInt8>
        var position = 0

        mutating func skipSpace() {
            while position < line.count, line[position] <= 0x20 { position += 1 }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            guard position < line.count, line[position] == byte else { return false }
            position += 1
            return true
        }

        /// A string; the position is behind it.
        mutating func string() -> JSONField? {
            guard take(UInt8(ascii: "\"")) else { return nil }
            let start = position
            var isEscaped = false
            while position < line.count {
                let byte = line[position]
                if byte == UInt8(ascii: "\"") {
                    position += 1
                    return JSONField(kind: .string, range: start..<position - 1, isEscaped: isEscaped)
                }
                if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                    position += 1
                }
                position += 1
            }
            return nil
        }

        /// Any value.
        mutating func value() -> JSONField? {
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

        /// An object or array, by its brackets; strings are passed over.
        private mutating func nested() -> Range<Int>? {
            let start = position
            var depth = 0
            while position < line.count {
                switch line[position] {
                case UInt8(ascii: "\""):
                    guard string() != nil else { return nil }
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    depth -= 1
                    if depth == 0 {
                        position += 1
                        return start..<position
                    }
                default: break
                }
                position += 1
            }
            return nil
        }
    }
}
