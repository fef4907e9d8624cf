extension String {
    /// The string as a JSON string with its quotes (RFC 8259, section 7).
    package var jsonQuoted: String {
        if utf8.allSatisfy(Self.isPlainInJSON) { return "\"" + self + "\"" }
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case "\u{0}"..<" ":
                quoted += "\\u" + String(scalar.value, radix: 16, width: 4)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    static func isPlainInJSON(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x22 && byte != 0x5c }
}
