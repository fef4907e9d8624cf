/// What was in a segment that was noted.
public struct CopiedContent: Equatable, Sendable {
    public let digest: BodyDigest
    public let bytes: Int64
    public let events: Int64

    public init(digest: BodyDigest, bytes: Int64, events: Int64) {
        self.digest = digest
        self.bytes = bytes
        self.events = events
    }
}
