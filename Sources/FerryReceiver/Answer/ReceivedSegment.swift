public import FerrySpool

/// A segment that the receiver answered for.
public struct ReceivedSegment: Sendable {
    public let name: String
    public let bytes: ByteCount
    /// `nil` when it came before, and inflates to more than the limit of today.
    public let events: Int64?
    let digest: BodyDigest
    public let isDuplicate: Bool
}
