extension Timestamp: Codable {
    /// Decodes a time in RFC 3339's form, as everywhere in Ferry's files; throws `DecodingError` for any other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let timestamp = Timestamp(rfc3339: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is no RFC 3339 time")
        }
        self = timestamp
    }

    /// Encodes the time in RFC 3339's form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rfc3339)
    }
}
