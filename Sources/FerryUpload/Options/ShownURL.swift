extension StringProtocol {
    /// A URL, or a part of one, as messages show it before it is clear what it holds: without what may be a user and a password, and without the values of
    /// parameters.
    ///
    /// More is left out than must be: a name with `@`, say, where a password that was not encoded may stand.
    package var withoutSecrets: String {
        var text = String(self)
        let scheme = text.firstRange(of: "://")?.upperBound ?? text.firstRange(of: "//")?.upperBound
        let place = scheme ?? text.startIndex
        // Without a host there is no user.
        if !text[place...].hasPrefix("/"), let end = text.lastIndex(of: "@"), place <= end {
            // What follows it may be a part of a query: where it began cannot be told any more.
            let isInQuery = text[place..<end].contains("?")
            text.replaceSubrange(place..<end, with: "…")
            if isInQuery, let rest = text.lastIndex(of: "@") { return text[...rest] + "…" }
        } else if scheme != nil {
            text = Self.withoutPort(text, from: place)
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return text }
        return "\(parts[0])?" + parts[1].split(separator: "&").map { Self.shown($0) }.joined(separator: "&")
    }

    /// Takes out what stands where a port belongs, and is none: a password whose host was forgotten.
    private static func withoutPort(_ text: String, from place: String.Index) -> String {
        let host = text[place...].prefix { !"/?#".contains($0) }
        guard !host.hasPrefix("["), let colon = host.firstIndex(of: ":"),
            !host[host.index(after: colon)...].allSatisfy(\.isNumber)
        else { return text }
        return text[..<colon] + ":…" + text[host.endIndex...]
    }

    private static func shown(_ pair: Substring) -> String {
        guard let equals = pair.firstIndex(of: "=") else { return pair.utf8.count > 32 ? "…" : String(pair) }
        let (name, value) = (pair[..<equals], pair[pair.index(after: equals)...])
        if name == "endpoint" { return "endpoint=\(value.withoutSecrets)" }
        // What may be no secret is shown, for it may be the mistake.
        return known.contains(String(name)) || value.hasPrefix("{") && value.hasSuffix("}") ? String(pair) : "\(name)=…"
    }

    private static var known: [String] { ["region", "style", "class", "sse", "require-mount"] }
}
