/// Why a key file cannot be used.
public struct KeyError: Error, Equatable, CustomStringConvertible {
    public let description: String
}
