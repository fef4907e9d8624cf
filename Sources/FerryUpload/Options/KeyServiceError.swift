/// Why a service gives no keys. It shows nothing of a token or a key.
struct KeyServiceError: Error, Equatable, CustomStringConvertible {
    let description: String
    /// Whether nothing answers there, or not as it should: the network may not be there yet.
    var isUnreachable = false
}
