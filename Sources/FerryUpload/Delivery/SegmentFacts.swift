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
    /// Through how many receivers it came.
    let hops: Int

    init(_ claim: Claim, spoolID: String, events: Int64?, isLate: Bool) throws(FileError) {
        self.isLate = isLate
        hops = claim.file.hops
        name = claim.name
        bytes = claim.status.size
        self.events = events
        isForeign = claim.segmentName == nil
        idempotencyKey = try SegmentKey.key(of: claim.name, file: claim.file, status: claim.status, spoolID: spoolID)
        if let segment = claim.segmentName {
            priority = segment.priority
            created = segment.created
            id = segment.id
            stream = segment.stream
        } else {
            priority = .normal
            created = claim.status.modified
            id = claim.name
            stream = nil
        }
    }
}
