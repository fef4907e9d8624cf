import FerrySpool
import FoundationEssentials

/// `KIND BASE64 BASE64`, one line.
enum KeyText {
    static func make(_ kind: String, _ first: Data, _ second: Data) -> String {
        "\(kind) \(first.base64EncodedString()) \(second.base64EncodedString())\n"
    }

    /// Reads a line of a kind from a file.
    ///
    /// - Parameters:
    ///   - what: What the kind is called: `private` or `public`.
    ///   - other: The kind of the other half, and what to use in place of that.
    static func read(
        _ path: String, _ kind: String, _ what: String, unlike other: (kind: String, advice: String)
    ) throws(KeyError) -> (Data, Data) {
        let text: String
        do throws(FileError) {
            // A pipe would be waited for.
            let bytes = try OpenFile.readingRegular(path)?.readBytes(1024, at: 0)
            text = String(decoding: bytes ?? [], as: UTF8.self)
        } catch {
            throw KeyError(description: error.description)
        }
        let words = text.split(whereSeparator: { $0 == " " || $0.isNewline })
        if words.first == other.kind[...] { throw KeyError(description: "\(path) \(other.advice)") }
        guard words.count == 3, words[0] == kind, let first = Data(base64Encoded: String(words[1])),
            let second = Data(base64Encoded: String(words[2]))
        else { throw KeyError(description: "\(path) holds no \(what) key of Ferry's; ferry keygen makes one") }
        return (first, second)
    }
}
