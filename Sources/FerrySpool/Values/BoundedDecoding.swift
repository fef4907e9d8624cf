extension KeyedDecodingContainer {
    /// Returns a whole number that lies in a range.
    ///
    /// - Throws: `DecodingError` for any other, as for a value of another kind: what holds it counts as unreadable.
    package func decode<Number: FixedWidthInteger & Decodable>(
        _ key: Key, in range: ClosedRange<Number>
    ) throws -> Number {
        let number = try decode(Number.self, forKey: key)
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\(number) is not in \(range.lowerBound)…\(range.upperBound)")
        }
        return number
    }

    /// Decodes a number that need not be there, in the same way.
    package func decodeIfPresent<Number: FixedWidthInteger & Decodable>(
        _ key: Key, in range: ClosedRange<Number>
    ) throws -> Number? {
        try contains(key) && !decodeNil(forKey: key) ? decode(key, in: range) : nil
    }
}
