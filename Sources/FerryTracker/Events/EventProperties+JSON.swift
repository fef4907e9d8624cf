import FerrySpool

extension EventProperties {
    /// Reads a JSON object (RFC 8259), in its order: of a key that stands twice the last value counts, as in most readers. A member that is `null` is
    /// none. A number with a point or an exponent is a `Double`, every other one a whole number.
    ///
    /// - Throws: ``PropertiesError`` for anything else, a `null` in a list, a whole number of more than 64 bits, half of a surrogate pair, and what
    ///   lies deeper than ``PropertyValue/deepest``.
    public init(json bytes: UnsafeBufferPointer<UInt8>) throws(PropertiesError) {
        if let flaw = JSONFlaw(in: bytes) {
            throw PropertiesError(description: "are no JSON: \(flaw.reason), at byte \(flaw.byte)")
        }
        var walker = JSONWalker(bytes)
        walker.skipSpace()
        guard let value = walker.value(), value.kind == .object else { throw PropertiesError(description: "are no JSON object") }
        self = try Self.object(value, in: bytes, depth: 0)
    }

    fileprivate static func object(
        _ field: JSONField, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) throws(PropertiesError) -> EventProperties {
        var members: [(String, PropertyValue)] = []
        var failure: PropertiesError?
        var walker = JSONWalker(bytes, at: field.range.lowerBound)
        _ = walker.forEachMember { key, value in
            guard failure == nil, value.kind != .null else { return }
            do throws(PropertiesError) {
                members.append((try text(key, in: bytes), try PropertyValue(value, in: bytes, depth: depth + 1)))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return EventProperties(lastOf: members)
    }

    fileprivate static func text(_ field: JSONField, in bytes: UnsafeBufferPointer<UInt8>) throws(PropertiesError) -> String {
        guard field.isEscaped, JSONText.hasLoneSurrogate(bytes[field.range]) else { return field.string(bytes) }
        let part = String(decoding: bytes[field.whole].prefix(80), as: UTF8.self)
        throw PropertiesError(description: "hold half of a surrogate pair, which is no text: \(part)")
    }
}

extension PropertyValue {
    fileprivate init(_ field: JSONField, in bytes: UnsafeBufferPointer<UInt8>, depth: Int) throws(PropertiesError) {
        guard depth <= EventLimits.deepest else {
            throw PropertiesError(description: "are more than \(EventLimits.deepest) lists and objects deep")
        }
        switch field.kind {
        case .string: self = .string(try EventProperties.text(field, in: bytes))
        case .yes: self = .bool(true)
        case .no: self = .bool(false)
        case .number: try self.init(number: field, in: bytes)
        case .object: self = .object(try EventProperties.object(field, in: bytes, depth: depth))
        case .array: self = .array(try Self.elements(of: field, in: bytes, depth: depth))
        case .null: throw PropertiesError(description: "hold a null in a list: leave it out")
        }
    }

    private init(number field: JSONField, in bytes: UnsafeBufferPointer<UInt8>) throws(PropertiesError) {
        if let number = field.integer(bytes) {
            if let int = Int(exactly: number) {
                self = .int(int)
                return
            }
            if let unsigned = UInt64(exactly: number) {
                self = .unsigned(unsigned)
                return
            }
        }
        let text = bytes[field.range]
        guard text.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) else {
            throw PropertiesError(
                description:
                    "hold the whole number \(String(decoding: text.prefix(40), as: UTF8.self)), which has more than 64 bits: pass it as text"
            )
        }
        self = .double(field.number(bytes))
    }

    private static func elements(
        of field: JSONField, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) throws(PropertiesError) -> [PropertyValue] {
        var elements: [PropertyValue] = []
        var walker = JSONWalker(bytes, at: field.range.lowerBound + 1)
        while true {
            walker.skipSpace()
            if walker.take(UInt8(ascii: "]")) { return elements }
            _ = walker.take(UInt8(ascii: ","))
            walker.skipSpace()
            guard let value = walker.value() else { return elements }
            elements.append(try PropertyValue(value, in: bytes, depth: depth + 1))
        }
    }
}
