import FerrySpool
import FoundationEssentials

/// What a browser may do with a page: its own style, and its own script where it has one. Nothing comes from elsewhere, and nothing goes there.
enum ContentPolicy {
    /// Of a page that the server sends.
    static let live = policy(script: PageScript.text, more: "connect-src 'self'; form-action 'self'; frame-ancestors 'none'")
    /// Of a page that is a file, in its head.
    static let file = policy(script: nil, more: "form-action 'none'")

    private static func policy(script: String?, more: String) -> String {
        let scripts = script.map { "script-src \(source($0)); " } ?? ""
        return "default-src 'none'; style-src \(source(PageStyle.text)); \(scripts)base-uri 'none'; \(more)"
    }

    /// Returns the source that stands for a text between two tags, by its hash.
    private static func source(_ text: String) -> String {
        "'sha256-\(Data(ContentHash.of(Array(text.utf8)).bytes).base64EncodedString())'"
    }
}
