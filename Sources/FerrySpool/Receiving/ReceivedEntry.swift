/// One line of `.ferry/received-YYYYMMDD.jsonl`: a key that a receiver has accepted, and what came with it.
package struct ReceivedEntry: Codable, Equatable, Sendable {
    /// When it came.
    package var at: Timestamp
    /// The idempotency key.
    package var key: String
    /// SHA-256 of the body as it came, in hexadecimal.
    package var sha256: String
    /// The segment's name in this spool.
    package var segment: String
    /// The size of the body as it came, in bytes.
    package var bytes: Int64
    /// How many events it held.
    package var events: Int64
    /// The hidden file that became the segment.
    package var file: String?
    /// The segment that it was gathered in with others, by appending it to ``file``.
    package var gathered: String?
    /// How far ``file`` reaches with it, in bytes.
    package var end: Int64?
    /// The bundle that brought it, if one did.
    package var bundle: String?
    /// The way that it came, as ``Trail/text``, with the spool that sent it.
    package var trail: String?
    /// Of what came another way than over a receiver or in a bundle: a sender got the answer that it is here.
    package var answered: Bool?

    /// Creates a line of the log.
    package init(
        at: Timestamp, key: String, sha256: String, segment: String, bytes: Int64, events: Int64, file: String? = nil,
        bundle: String? = nil, trail: Trail? = nil, answered: Bool? = nil
    ) {
        self.at = at
        self.key = key
        self.sha256 = sha256
        self.segment = segment
        self.bytes = bytes
        self.events = events
        self.file = file
        self.bundle = bundle
        self.trail = trail?.text
        self.answered = answered
    }
}

extension ReceivedEntry {
    /// It came another way than over a receiver or in a bundle, and no sender got the answer that it is here: the line is no promise. What a receiver
    /// or an import takes has a hidden file first; earlier versions noted neither that nor a way.
    package var isMereNote: Bool { file == nil && trail != nil && answered != true }

    /// The name of the file that has the segment: what it was gathered in, or its own. What an earlier version took in under a name that no file
    /// can have gets one made from its key.
    var fileName: String {
        if let gathered, SegmentName(gathered) != nil { return gathered }
        if ForeignName.isLegal(segment) { return segment }
        return SegmentName(priority: .normal, created: at, id: SegmentID(hashing: key.utf8)).fileName
    }
}
