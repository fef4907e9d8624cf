/// Why a text is no event's properties: what they are, or hold.
public struct PropertiesError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong with the text, in words.
    public let description: String
}
