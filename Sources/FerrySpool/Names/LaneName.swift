/// The name of a lane, and so of one of several destinations: 1 to 32 characters `[a-z0-9_-]`, the first of them a letter or a digit.
public struct LaneName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's characters.
    public let text: String
    /// The name's characters.
    public var description: String { text }

    /// What a name must be, for messages.
    package static let rule = "1 to 32 of a-z, 0-9, - and _, a letter or a digit first"

    /// Creates a name; `nil` for other characters, or more of them.
    public init?(_ text: String) {
        guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy(\.isStreamByte), let first = text.utf8.first,
            first != UInt8(ascii: "-"), first != UInt8(ascii: "_")
        else { return nil }
        self.text = text
    }

    /// Creates a name of a readable text and a number. What a name may not have is replaced by dashes; the number makes it unlike others.
    package init(_ readable: some StringProtocol, number: UInt64) {
        let letters = readable.lowercased().utf8.prefix(18).map { $0.isStreamByte ? $0 : UInt8(ascii: "-") }
        let start = String(decoding: letters.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }, as: UTF8.self)
        text = (start.isEmpty ? "to" : start) + "-" + String(number, radix: 36)
    }

    /// Returns whether one name comes before another in lists.
    public static func < (one: LaneName, other: LaneName) -> Bool { one.text < other.text }
}
