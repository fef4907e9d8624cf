/// Why a time zone cannot be used.
public struct ZoneError: Error, Equatable, CustomStringConvertible {
    /// The reason, for people.
    public let description: String
}
