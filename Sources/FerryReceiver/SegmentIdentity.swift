import FerryIntake
import FerrySpool
import HTTPTypes

/// Which segment a request carries, by its headers.
struct SegmentIdentity: Equatable, Sendable {
    /// The name it gets in the receiver's spool.
    let name: SegmentName
    /// What makes it the same segment at every try; `nil` when the sender names none.
    let key: String?

    /// One of several in a request: its ID is its key.
    init(_ name: SegmentName) {
        self.name = name
        key = name.id
    }

    /// - Parameter now: For senders that say nothing of themselves.
    init(_ headers: HTTPFields, now: Timestamp) {
        let segment = headers[HTTPField.Name("Ferry-Segment")!].flatMap { SegmentName($0) }
        key = headers[HTTPField.Name("Idempotency-Key")!].map(Self.unquoted) ?? segment?.id
        if let segment {
            name = segment
        } else {
            let created = headers[HTTPField.Name("Ferry-Created")!].flatMap(Timestamp.init(rfc3339:)) ?? now
            // From the key, so that every try gets the same name.
            let id = key.map(ReceivedID.init)?.text ?? SegmentID.random()
            name = SegmentName(priority: .normal, created: max(created, Timestamp(milliseconds: 0)), id: id)!
        }
    }

    /// A structured-field string (RFC 9651), as the draft on idempotency keys wants it; a bare one is taken as it is.
    private static func unquoted(_ value: String) -> String {
        guard value.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return value }
        return String(value.dropFirst().dropLast())
    }
}
