/// A whole number in a JSON text that neither `Int64` nor `UInt64` holds: a decoder would round it without a word.
enum WideNumber {
    private static let forms = Set("0123456789+-.eE".utf8)

    /// - Returns: The first 40 characters of the first one; `nil` when there is none.
    static func first(in bytes: some Collection<UInt8>) -> String? {
        var rest = bytes[...]
        var isInText = false
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\") where isInText: _ = rest.popFirst()
            case UInt8(ascii: "\""): isInText.toggle()
            case UInt8(ascii: "-") where !isInText, UInt8(ascii: "0")...UInt8(ascii: "9") where !isInText:
                let tail = rest.prefix { forms.contains($0) }
                rest = rest.dropFirst(tail.count)
                let text = String(decoding: [byte] + tail, as: UTF8.self)
                let isWhole = tail.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                if isWhole, text.count > 1, Int64(text) == nil, UInt64(text) == nil { return String(text.prefix(40)) }
            default: break
            }
        }
        return nil
    }
}
