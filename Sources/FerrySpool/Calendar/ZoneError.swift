/// Why a time zone cannot be used.
public struct ZoneError: Error, Equatable, CustomStringConvertible {
    public let description: String
}
