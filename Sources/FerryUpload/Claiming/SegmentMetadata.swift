import FerrySpool

/// What a request says about its segment. Shared: it goes through many hands, and a copy would count each of its texts anew.
final class SegmentMetadata: Sendable {
    let name: String
    let priority: Priority
    let created: Timestamp
    let id: String
    let stream: String?
    /// The same at every try, in every process, and never the same for two segments.
    let idempotencyKey: String
    let bytes: ByteCount
    let isForeign: Bool
    let events: Int64?
    /// It has missed its deadline.
    let isLate: Bool
    /// The ID of the spool that it lies in.
    let spoolID: String
    /// The way that it came.
    let trail: Trail
    /// What the clock said when the segment was opened, where that is not ``created``.
    let clockReading: Timestamp?
    /// When it was opened, as far as that is known, where the clock was behind that gave ``created``.
    let dated: Timestamp?

    init(_ claim: Claim, _ notes: SegmentNotes, spoolID: String, trail: Trail, events: Int64?, isLate: Bool) throws(FileError) {
        self.isLate = isLate
        self.spoolID = spoolID
        self.trail = trail
        clockReading = notes.clockReading
        dated = notes.dated
        name = claim.name
        bytes = claim.status.size
        self.events = events
        isForeign = claim.segmentName == nil
        idempotencyKey = try SegmentKey.key(of: claim.name, isInLane: claim.isInLane, spoolID: spoolID) { () throws(FileError) in
            try claim.digest()
        }
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

    /// Describes a segment that lies in no spool here.
    ///
    /// - Parameters:
    ///   - key: The key of one whose name is another tool's, or none; `nil`: the ID in its name is its key.
    ///   - spoolID: The ID of the spool that it was sent from, or empty.
    init(_ segment: SegmentName, key: String?, bytes: ByteCount, events: Int64?, spoolID: String) {
        name = segment.fileName
        priority = segment.priority
        created = segment.created
        id = segment.id
        stream = segment.stream
        idempotencyKey = key ?? segment.id
        isForeign = key != nil
        self.bytes = bytes
        self.events = events
        self.spoolID = spoolID
        isLate = false
        trail = .none
        clockReading = nil
        dated = nil
    }

    /// Returns how long ago it was opened, as far as that is known.
    func age(at now: Timestamp) -> Duration { max(.zero, now - (dated ?? created)) }

    /// What a body of another form says of it.
    var origin: SegmentOrigin {
        SegmentOrigin(created: created, key: idempotencyKey, stream: stream, priority: priority)
    }
}
