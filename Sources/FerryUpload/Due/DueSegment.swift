/// A pending segment, and whether a pass that begins now sends it.
public struct DueSegment: Sendable {
    public let segment: PendingSegment
    /// Why it is not sent; `nil` when it is.
    public let reason: NotSentReason?
}
