/// `Idempotency-Key`: what makes it the same request at every try, a structured field's string (RFC 9651), as the draft on idempotency keys wants it.
package enum IdempotencyKeyField {
    package static let header = FerryHeader.idempotencyKey

    /// Returns the value for a key without quotes.
    package static func text(_ key: String) -> String { "\"" + key + "\"" }

    /// Reads a value; a bare key is taken as it is. Returns `nil` for what can be no key, by its length or its bytes.
    package static func key(_ text: String) -> String? {
        let isQuoted = text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        let key = isQuoted ? String(text.dropFirst().dropLast()) : text
        // In the place of bytes that are no UTF-8 stands one character for all: two keys would become one.
        return ForeignName.keyLengths.contains(key.utf8.count) && !key.unicodeScalars.contains("\u{FFFD}") ? key : nil
    }
}
