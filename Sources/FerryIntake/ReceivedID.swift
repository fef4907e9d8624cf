import Crypto

/// The ID that a segment gets whose own name has none: made from its key, so that it is the same whenever and however it comes.
public struct ReceivedID: Sendable {
    /// 25 characters of base 36 for 128 bits of the key's SHA-256.
    public let text: String

    public init(_ key: String) {
        let digest = SHA256.hash(data: Array(key.utf8))
        let number = digest.prefix(16).reduce(0 as UInt128) { $0 << 8 | UInt128($1) }
        let digits = String(number, radix: 36)
        text = String(repeating: "0", count: 25 - digits.count) + digits
    }
}
