import Crypto
public import FerrySpool

/// The ID that a segment gets whose own name has none: made from its key, so that it is the same whenever and however it comes.
public struct ReceivedID: Sendable {
    /// 128 bits of the key's SHA-256.
    public let id: SegmentID

    public var text: String { id.text }

    public init(_ key: String) {
        let digest = SHA256.hash(data: Array(key.utf8))
        id = SegmentID(digest.prefix(16).reduce(0 as UInt128) { $0 << 8 | UInt128($1) })
    }
}
