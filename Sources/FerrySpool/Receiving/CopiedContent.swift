/// What was in a segment that was noted.
package struct CopiedContent: Equatable, Sendable {
    /// SHA-256 of the file's bytes.
    package let digest: BodyDigest
    /// The size of the file, in bytes.
    package let bytes: Int64
    /// How many events it held.
    package let events: Int64

    /// Creates what is noted of a segment's content.
    package init(digest: BodyDigest, bytes: Int64, events: Int64) {
        self.digest = digest
        self.bytes = bytes
        self.events = events
    }
}
