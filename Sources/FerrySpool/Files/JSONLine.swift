package import FoundationEssentials

/// One value a line, as Ferry's logs and lists have it.
package enum JSONLine {
    /// Makes an encoder as all of Ferry's JSON is written: with sorted keys, and slashes as they are.
    package static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    /// Encodes a value in one line, with sorted keys and a line feed.
    package static func encode(_ value: some Encodable) -> [UInt8] {
        guard let data = try? makeEncoder().encode(value) else { preconditionFailure("lists hold nothing but text and numbers") }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Decodes a line; `nil` when the line holds something else.
    package static func decode<Value: Decodable>(_ type: Value.Type, _ line: UnsafeBufferPointer<UInt8>) -> Value? {
        try? JSONDecoder().decode(type, from: Data(line))
    }
}
