import FerryUpload

/// A setting's text as it is printed: without what may be a secret.
enum ShownValue {
    /// Returns a text of a setting without a URL's credentials and without the values of headers that may not stand there.
    static func of(_ text: String, _ setting: Setting) -> String {
        guard setting.problem(text) != nil else { return text }
        switch setting.key {
        case "headers":
            // What is no name may be a secret.
            guard let colon = text.firstIndex(of: ":"),
                text[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
            else { return "…" }
            return text[...colon] + " …"
        case "to": return text.withoutSecrets
        default: return text
        }
    }
}
