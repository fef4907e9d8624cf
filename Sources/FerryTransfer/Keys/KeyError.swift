/// Why a key file cannot be used.
public struct KeyError: Error, Equatable, CustomStringConvertible {
    /// The reason, for people.
    public let description: String
}
