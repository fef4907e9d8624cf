/// The ID that a segment gets whose own name has none: made from its key, so that it is the same whenever and however it comes.
package struct ReceivedID: Sendable {
    /// 128 bits of the key's SHA-256.
    package let id: SegmentID

    /// The ID as text.
    package var text: String { id.text }

    /// Makes the ID of an idempotency key.
    package init(_ key: String) { id = SegmentID(ContentHash.of(key.utf8).firstHalf) }

    /// Returns a key and, where it is another tool's, the ID that is made of it: they are one.
    package static func keys(like key: String) -> [String] { SegmentID(key) == nil ? [key, ReceivedID(key).text] : [key] }
}
