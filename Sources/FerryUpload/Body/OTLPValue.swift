import FerrySpool

/// Writes JSON values as OTLP's `AnyValue` and `KeyValue` (opentelemetry/proto/common/v1/common.proto, in their JSON encoding).
struct OTLPValue {
    let event: TrackedEvent

    /// An object inside another one is three messages of Protocol Buffers deeper, and readers take a hundred by default.
    private static let deepest = 24

    /// Appends a value. What lies deeper than readers take is text, as JSON.
    func append(_ value: JSONField, depth: Int = 0, to body: inout [UInt8]) {
        switch value.kind {
        case .null: body.append("{}")
        case .yes: body.append("{\"boolValue\":true}")
        case .no: body.append("{\"boolValue\":false}")
        case .string: append(text: value.string(event.line), to: &body)
        case .number: append(number: value, to: &body)
        case .object where depth < Self.deepest:
            body.append("{\"kvlistValue\":{\"values\":[")
            var isFirst = true
            for (key, value) in event.uniqueMembers(of: value) {
                append(key, value, isFirst: isFirst, depth: depth + 1, to: &body)
                isFirst = false
            }
            body.append("]}}")
        case .array where depth < Self.deepest:
            body.append("{\"arrayValue\":{\"values\":[")
            var isFirst = true
            var walker = JSONWalker(event.line, at: value.range.lowerBound)
            _ = walker.forEachElement { element in
                if !isFirst { body.append(",") }
                isFirst = false
                append(element, depth: depth + 1, to: &body)
            }
            body.append("]}}")
        case .object, .array: append(text: String(decoding: event.bytes(value), as: UTF8.self), to: &body)
        }
    }

    /// Appends a key and its value to a list of them.
    func append(_ key: String, _ value: JSONField, isFirst: Bool, depth: Int = 0, to body: inout [UInt8]) {
        body += "\(isFirst ? "" : ",")\(Self.start(key))".utf8
        append(value, depth: depth, to: &body)
        body.append("}")
    }

    /// Appends text as a value.
    func append(text: String, to body: inout [UInt8]) { body += Self.text(text).utf8 }

    /// Returns a key and its text.
    static func pair(_ key: String, _ text: String) -> String { "\(start(key))\(self.text(text))}" }

    private static func start(_ key: String) -> String { "{\"key\":\(key.jsonQuoted),\"value\":" }
    private static func text(_ text: String) -> String { "{\"stringValue\":\(text.jsonQuoted)}" }

    /// Appends a number. One that neither 64 bits with a sign nor a double holds keeps its digits as text.
    private func append(number: JSONField, to body: inout [UInt8]) {
        let bytes = event.bytes(number)
        let isWhole = !bytes.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
        if isWhole, let whole = number.integer(event.line).flatMap({ Int64(exactly: $0) }) {
            body += "{\"intValue\":\"\(whole)\"}".utf8
        } else if !isWhole, number.number(event.line).isFinite {
            body.append("{\"doubleValue\":")
            body += bytes
            body.append("}")
        } else {
            append(text: String(decoding: bytes, as: UTF8.self), to: &body)
        }
    }
}
