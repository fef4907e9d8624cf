import FerrySpool

/// What a request says about its segment.
struct SegmentFacts: Sendable {
    let name: String
    let priority: Priority
    let created: Timestamp
    let id: String
    let stream: String?
    /// The same at every try, in every process, and never the same for two segments.
    let idempotencyKey: String
    let bytes: ByteCount
    let isForeign: Bool
    var events: Int64?
    /// It has missed its deadline.
    let isLate: Bool

    init(_ claim: Claim, spoolID: String, events: Int64?, isLate: Bool) throws(FileError) {
        self.isLate = isLate
        name = claim.name
        bytes = claim.status.size
        self.events = events
        isForeign = claim.segmentName == nil
        if let segment = claim.segmentName {
            priority = segment.priority
            created = segment.created
            id = segment.id
            stream = segment.stream
            idempotencyKey = segment.id
        } else {
            priority = .normal
            created = claim.status.modified
            id = claim.name
            stream = nil
            // Many machines, and one machine every day, export a file of the same name. So the key also says which spool and
            // which content: the checksum and sizes that end every gzip file.
            let trailer = try claim.file.readBytes(8, at: max(0, bytes.bytes - 8))
            let checksum = trailer.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            idempotencyKey =
                "\(name.percentEncodedForURL)~\(spoolID)~\(String(checksum, radix: 36))\(String(bytes.bytes, radix: 36))"
        }
    }
}
