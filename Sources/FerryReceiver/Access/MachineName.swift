/// What a machine is called, and the folder of its spool: 1 to 64 letters, digits, dots, hyphens and underscores, the first a letter or a digit.
public struct MachineName: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The name's characters.
    public let text: String

    /// Creates a name.
    ///
    /// - Returns: `nil` unless it is such a name.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first, Self.isLetterOrDigit(first),
            text.utf8.allSatisfy({ Self.isLetterOrDigit($0) || Self.others.contains($0) })
        else { return nil }
        self.text = text
    }

    /// Returns whether the left name comes first, as text.
    public static func < (left: MachineName, right: MachineName) -> Bool { left.text < right.text }
    /// The name's characters.
    public var description: String { text }

    private static let others = Array("._-".utf8)

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
