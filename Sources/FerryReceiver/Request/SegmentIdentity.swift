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
        var given: SegmentName?
        if let text = headers[.ferrySegment] {
            guard let field = SegmentNameField(text) else { throw .name }
            if case .own(let name) = field { given = name }
        }
        var key = given?.id
        if let text = headers[.idempotencyKey] {
            key = IdempotencyKeyField.key(text)
            guard key != nil else { throw .key }
        }
        // A client that sends other bytes under a segment's ID would keep the segment itself out.
        guard given == nil || key == given?.id else { throw .keyOfAnother }
        self.key = key
        givenName = given
        if let given {
            name = given
        } else {
            let created = headers[.ferryCreated].flatMap(Timestamp.init(rfc3339:)) ?? now()
            name =
                key.map { SegmentName(receivedUnder: $0, created: created) }
                ?? SegmentName(priority: .normal, created: created, id: .random())
        }
    }
}
