import FerrySpool
import Glibc

/// Finds the values of some paths in a line of JSON, in one walk over its bytes that skips everything else.
struct FieldExtractor {
    /// As many as a word has bits.
    static let mostPaths = 64

    let paths: [FieldPath]
    /// The keys of all paths, one behind the other: arrays of arrays would be counted at each look.
    private let text: [UInt8]
    /// Where each key is in ``text``.
    private let keys: [Range<Int>]
    /// The keys of each path among ``keys``.
    private let parts: [Range<Int>]

    init(_ paths: [FieldPath]) {
        precondition(paths.count <= Self.mostPaths, "callers look before: the paths are a person's")
        self.paths = paths
        var (text, keys, parts): ([UInt8], [Range<Int>], [Range<Int>]) = ([], [], [])
        for path in paths {
            let first = keys.count
            for component in path.components {
                let start = text.count
                text += component.utf8
                keys.append(start..<text.count)
            }
            parts.append(first..<keys.count)
        }
        (self.text, self.keys, self.parts) = (text, keys, parts)
    }

    /// Looks for the paths in a line.
    ///
    /// - Parameter fields: One for each path; `nil` where the line has no such value. Of keys that are there twice the last counts.
    /// - Returns: `false` when the line is no JSON object; what is inside values that are skipped is not looked at.
    func extract(_ line: UnsafeBufferPointer<UInt8>, into fields: inout [JSONField?]) -> Bool {
        for index in fields.indices { fields[index] = nil }
        var walker = JSONWalker(line)
        walker.skipSpace()
        guard walker.take(UInt8(ascii: "{")) else { return false }
        let all = paths.count == 64 ? UInt64.max : (1 << UInt64(paths.count)) - 1
        return walk(&walker, wanted: all, depth: 0, &fields)
    }

    /// Walks an object's members, its brace taken.
    private func walk(_ walker: inout JSONWalker, wanted: UInt64, depth: Int, _ fields: inout [JSONField?]) -> Bool {
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
                let part = parts[index]
                guard isKey(keys[part.lowerBound + depth], key, walker.line) else { continue }
                if part.count == depth + 1 { matching |= 1 << UInt64(index) } else { deeper |= 1 << UInt64(index) }
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

    private func isKey(_ wanted: Range<Int>, _ key: JSONField, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        if key.isEscaped { return key.equals(Array(text[wanted]), line) }
        guard key.range.count == wanted.count, let start = line.baseAddress else { return false }
        return text.withUnsafeBufferPointer { text in
            // Bytes of a path are there where some are wanted.
            wanted.isEmpty || memcmp(start + key.range.lowerBound, text.baseAddress! + wanted.lowerBound, wanted.count) == 0
        }
    }

    private func record(_ field: JSONField, _ matching: UInt64, _ fields: inout [JSONField?]) {
        var rest = matching
        while rest != 0 {
            fields[rest.trailingZeroBitCount] = field
            rest &= rest - 1
        }
    }
}
