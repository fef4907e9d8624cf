package import FerrySpool
import NIOCore

/// A segment that becomes an object, in a file of which nothing is left when it is closed.
package struct StoredSegment: Sendable {
    let file: OpenFile
    let facts: SegmentMetadata
    let digest: BodyDigest

    /// Describes a segment.
    ///
    /// - Parameters:
    ///   - file: It alone, from the start.
    ///   - name: Its own name, or one that was made for it.
    ///   - key: What makes one the same at every try whose name was made; `nil`: the name does.
    ///   - sender: The ID of the spool that it comes from; `nil` where none is known.
    package init(
        _ file: OpenFile, name: SegmentName, key: String?, bytes: ByteCount, digest: BodyDigest, events: Int64, sender: String?
    ) {
        self.file = file
        self.digest = digest
        facts = SegmentMetadata(
            name, key: key, bytes: bytes, events: events, spoolID: sender.flatMap { SpoolID.isValid($0) ? $0 : nil } ?? "")
    }

    /// What it carries: a small one from memory, with the request's head in one system call.
    func body() throws(FileError) -> RequestBody {
        guard facts.bytes <= TransportOptions.smallBody else { return .file(file, size: facts.bytes.bytes) }
        return .bytes(.init(bytes: try file.readBytes(Int(facts.bytes.bytes), at: 0)))
    }
}

/// What became of a segment that was put into a store.
package enum PutResult: Sendable {
    /// It is there. A duplicate was there before.
    case stored(isDuplicate: Bool)
    /// Another object has its name, with other bytes.
    case conflict
    /// The store takes only smaller objects.
    case tooLarge(String)
    /// It is not known to be there. It may pass, or a person must mend something.
    case failed(String, retryAfter: Duration?, isMisconfigured: Bool)
}
