/// Why a text is no event's properties: what they are, or hold.
public struct PropertiesError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String
}
