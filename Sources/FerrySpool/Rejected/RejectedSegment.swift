/// A segment in `rejected/`.
public struct RejectedSegment: Sendable {
    /// The file's name in `rejected/`.
    public let name: String
    /// The size of the file.
    public let size: ByteCount
    /// `nil` when its reason file is missing or unreadable.
    public let reason: RejectionReason?

    /// Whether a spool would send a file of this name. Anything else was put there by other means.
    public var isSegment: Bool { name.withoutCopyNumber.isSegmentName }
}
