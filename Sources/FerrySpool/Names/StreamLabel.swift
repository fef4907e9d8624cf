/// A label of segments: 1 to 64 characters `[a-z0-9_-]`.
public struct StreamLabel: Hashable, Sendable, CustomStringConvertible {
    /// The label's characters.
    public let text: String
    /// The label's characters.
    public var description: String { text }

    /// How many characters a label may have.
    public static let lengths = 1...64

    /// Creates a label; `nil` for other characters or another length than the format allows.
    public init?(_ text: String) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(\.isStreamByte) else { return nil }
        self.text = text
    }
}
