import FerrySpool
import HTTPTypes

/// Which segment a request carries, by its headers.
struct SegmentIdentity: Equatable, Sendable {
    /// The name it gets in the receiver's spool.
    let name: SegmentName
    /// The name that the sender gave; `nil` where it gave none, or another tool's, and ``name`` was made for it.
    let givenName: SegmentName?
    /// What makes it the same segment at every try; `nil` when the sender names none.
    let key: String?

    /// Identifies one of several in a request: its ID is its key.
    init(_ name: SegmentName) {
        self.name = name
        givenName = name
        key = name.id
    }

    private init(_ name: SegmentName, givenName: SegmentName?, key: String?) {
        self.name = name
        self.givenName = givenName
        self.key = key
    }

    /// Returns the same identity with a priority no more urgent than `most`.
    func limited(to most: Priority) -> SegmentIdentity {
        guard name.priority < most else { return self }
        return SegmentIdentity(name.with(most), givenName: givenName?.with(most), key: key)
    }

    /// Reads the headers of a request for one segment.
    ///
    /// - Parameter now: For senders that say nothing of themselves.
    init(_ headers: HTTPFields, now: @autoclosure () -> Timestamp) throws(RequestHeaderError) {
        let header = headers[.ferrySegment]
        let segment = header.flatMap { SegmentName($0) }
        if let header, segment == nil, !ForeignName.isLegal(String(percentDecoding: header) ?? header) { throw .name }
        let key = headers[.idempotencyKey].map(Self.unquoted) ?? segment?.id
        // In the place of bytes that are no UTF-8 stands one character for all: two keys would become one.
        guard key.map({ ForeignName.keyLengths.contains($0.utf8.count) && !$0.unicodeScalars.contains("\u{FFFD}") }) ?? true
        else {
            throw .key
        }
        // A client that sends other bytes under a segment's ID would keep the segment itself out.
        guard segment == nil || key == segment?.id else { throw .keyOfAnother }
        self.key = key
        givenName = segment
        if let segment {
            name = segment
        } else {
            let created = headers[.ferryCreated].flatMap(Timestamp.init(rfc3339:)) ?? now()
            // From the key, so that every try gets the same name.
            name = SegmentName(priority: .normal, created: created, id: key.map { ReceivedID($0).id } ?? .random())
        }
    }

    /// Returns the text of a structured-field string (RFC 9651), as the draft on idempotency keys wants it; a bare one is taken as it is.
    private static func unquoted(_ value: String) -> String {
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        return String(value.dropFirst().dropLast())
    }
}

// Constants that hold nothing but letters and hyphens are names.
extension HTTPField.Name {
    static let ferrySegment = HTTPField.Name("Ferry-Segment")!
    static let ferryAge = HTTPField.Name("Ferry-Age")!
    static let ferrySentAt = HTTPField.Name("Ferry-Sent-At")!
    static let ferryCreatedClock = HTTPField.Name("Ferry-Created-Clock")!
    static let ferryCreated = HTTPField.Name("Ferry-Created")!
    static let ferrySpool = HTTPField.Name("Ferry-Spool")!
    static let ferryAccepts = HTTPField.Name("Ferry-Accepts")!
    static let ferryHops = HTTPField.Name("Ferry-Hops")!
    static let ferryVia = HTTPField.Name("Ferry-Via")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
