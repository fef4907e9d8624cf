extension StringProtocol {
    /// Returns the text in one line that a terminal shows and does not obey, for people and for the service manager.
    ///
    /// Control characters, and those that turn the direction of what follows, stand as JSON writes them (`\n`, `\u001b`). So JSON stays
    /// the same JSON, and a text that has been through this stays as it is. A tab stays too.
    ///
    /// - Parameter limit: The most Unicode scalars that are kept; `…` stands for the rest.
    package func printable(limit: Int = .max) -> String {
        if utf8.count <= limit, utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f || $0 == 0x09 }) { return String(self) }
        var text = String.UnicodeScalarView()
        for (index, scalar) in unicodeScalars.enumerated() {
            if index == limit {
                text.append("…")
                break
            }
            if scalar.commandsTerminals { text.append(contentsOf: scalar.escape.unicodeScalars) } else { text.append(scalar) }
        }
        return String(text)
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may obey it, or show what follows in another place.
    fileprivate var commandsTerminals: Bool {
        switch value {
        case 0x09: false
        // C0, DEL and C1.
        case 0x00...0x1f, 0x7f...0x9f: true
        // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }

    fileprivate var escape: String {
        switch self {
        case "\n": return "\\n"
        case "\r": return "\\r"
        default:
            return "\\u" + String(value, radix: 16, width: 4)
        }
    }
}
