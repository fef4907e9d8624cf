/// A pending segment, and whether a pass that begins now sends it.
package struct DueSegment: Sendable {
    package let segment: PendingSegment
    /// Why it is not sent; `nil` when it is.
    package let reason: NotSentReason?
}
