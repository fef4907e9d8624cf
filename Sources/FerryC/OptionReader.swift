import FerrySpool

/// Reads the members of a JSON object of options, and says of each what is wrong with it.
struct OptionReader<Key: CodingKey & CaseIterable & RawRepresentable<String>> {
    private let values: KeyedDecodingContainer<Key>

    private struct AnyKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// - Throws: ``OptionError`` when there is a member that is no option.
    init(_ decoder: any Decoder, _ keys: Key.Type = Key.self) throws {
        for key in try decoder.container(keyedBy: AnyKey.self).allKeys where Key(rawValue: key.stringValue) == nil {
            let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
            throw OptionError(description: "'\(key.stringValue)' is no option; there are \(known)")
        }
        values = try decoder.container(keyedBy: keys)
    }

    private func value<Value: Decodable>(_ key: Key, _ type: Value.Type, _ expected: String) throws -> Value? {
        do { return try values.decodeIfPresent(type, forKey: key) } catch {
            throw OptionError(description: "'\(key.rawValue)' must be \(expected)")
        }
    }

    func text(_ key: Key) throws -> String? { try value(key, String.self, "text") }

    func flag(_ key: Key) throws -> Bool? { try value(key, Bool.self, "true or false") }

    func texts(_ key: Key) throws -> [String: String]? { try value(key, [String: String].self, "an object of texts") }

    /// Returns the value that a word stands for; `nil` when the key is missing.
    func word<Value>(_ key: Key, _ words: [(String, Value)]) throws -> Value? {
        let expected = words.map(\.0).joined(separator: ", ")
        guard let text = try value(key, String.self, "one of \(expected)") else { return nil }
        guard let found = words.first(where: { $0.0 == text }) else {
            throw OptionError(description: "'\(key.rawValue)' must be one of \(expected), not '\(text)'")
        }
        return found.1
    }

    /// Returns a number above zero; `nil` when the key is missing.
    func positive<Value: Decodable & Comparable & ExpressibleByIntegerLiteral>(_ key: Key, _ type: Value.Type) throws -> Value? {
        let number = try value(key, type, "a number")
        if let number, number <= 0 { throw OptionError(description: "'\(key.rawValue)' must be more than 0") }
        return number
    }

    /// Returns a number of seconds as a duration; `nil` when the key is missing.
    ///
    /// - Parameter allowsZero: Whether zero and less mean something.
    func seconds(_ key: Key, allowsZero: Bool = false) throws -> Duration? {
        let number = try allowsZero ? value(key, Double.self, "a number") : positive(key, Double.self)
        return number.map { Duration(boundedSeconds: $0) }
    }
}

extension Duration {
    /// Seconds of a caller's, a number, at most some 300 years of them.
    init(boundedSeconds seconds: Double) { self = .seconds(max(-1e10, min(seconds, 1e10))) }
}
