public import FerrySpool

/// A segment that the receiver answered for.
public struct ReceivedSegment: Sendable {
    /// The segment's file name in the spool.
    public let name: String
    /// The size of the body as it came.
    public let bytes: ByteCount
    /// `nil` when it came before, and inflates to more than the limit of today.
    public let events: Int64?
    let digest: BodyDigest
    /// Whether it came before.
    public let isDuplicate: Bool
}
