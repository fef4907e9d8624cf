import FerrySpool

/// A URL of a destination, which may have a name in front: `hub=https://hub.example/v1/segments`.
struct NamedURL: Equatable {
    /// `nil`: none was given.
    let name: LaneName?
    let url: String

    init(_ text: String) {
        // A URL has its first colon behind its scheme, and an equals sign only behind that.
        guard let end = text.firstIndex(where: { $0 == "=" || $0 == ":" }), text[end] == "=",
            let name = LaneName(String(text[..<end]))
        else {
            (name, url) = (nil, text)
            return
        }
        (self.name, url) = (name, String(text[text.index(after: end)...]))
    }

    /// Returns several URLs with a name for each: the given one, or one that is made from the URL, the same at each call.
    static func all(_ texts: [String]) -> [(name: LaneName, url: String)] {
        texts.map { text in
            let one = NamedURL(text)
            return (one.name ?? madeName(of: one.url), one.url)
        }
    }

    /// Returns a name that tells where a URL leads, and is another one for other URLs.
    private static func madeName(of url: String) -> LaneName {
        let host = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" && $0 != ":" && $0 != "?" }
        return LaneName(host, number: StableHash.of(url.utf8))
    }
}
