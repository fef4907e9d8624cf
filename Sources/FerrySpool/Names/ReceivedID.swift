/// The ID that a segment gets whose own name has none: made from its key, so that it is the same whenever and however it comes.
public struct ReceivedID: Sendable {
    /// 128 bits of the key's SHA-256.
    public let id: SegmentID

    /// The ID as text.
    public var text: String { id.text }

    /// Makes the ID of an idempotency key.
    public init(_ key: String) { id = SegmentID(ContentHash.of(key.utf8).firstHalf) }
}
