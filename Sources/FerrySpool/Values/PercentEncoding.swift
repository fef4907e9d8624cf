extension String {
    /// Decodes percent-encoded text; `nil` when a `%` has no two hexadecimal digits behind it, or the bytes are not UTF-8.
    package init?(percentDecoding text: String) {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }),
                let low = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue })
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        self.init(validating: bytes, as: UTF8.self)
    }

    /// Everything but RFC 3986's unreserved characters percent-encoded.
    package var percentEncodedForURL: String {
        let hex = Array("0123456789ABCDEF".unicodeScalars)
        var encoded = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += "%"
                encoded.unicodeScalars.append(hex[Int(byte >> 4)])
                encoded.unicodeScalars.append(hex[Int(byte & 15)])
            }
        }
        return encoded
    }
}
