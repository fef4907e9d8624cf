/// The names of the header fields in which an uploader says what its request carries, and a receiver what it takes.
package enum FerryHeader: String, CaseIterable, Sendable {
    /// What makes it the same request at every try: ``IdempotencyKeyField``.
    case idempotencyKey = "Idempotency-Key"
    /// Which segments it carries: ``SegmentNameField``, ``SegmentListField`` or ``SegmentLinesField``.
    case segment = "Ferry-Segment"
    /// When the first segment was opened, as RFC 3339.
    case created = "Ferry-Created"
    /// What the sender's clock said when each segment was opened: ``ClockReadingsField``.
    case createdClock = "Ferry-Created-Clock"
    /// How long ago each segment was opened: ``AgesField``.
    case age = "Ferry-Age"
    /// When it was sent, by the sender's clock, as RFC 3339.
    case sentAt = "Ferry-Sent-At"
    /// The ID of the spool that sends; in an answer, of the one that has stored.
    case spool = "Ferry-Spool"
    /// The number of the try, from 1.
    case attempt = "Ferry-Attempt"
    /// How many events it carries, where that is known.
    case events = "Ferry-Events"
    /// Through how many receivers its segments came: ``HopsField``.
    case hops = "Ferry-Hops"
    /// Out of which spools its segments came: ``ViaField``.
    case via = "Ferry-Via"
    /// `true`: the first segment missed its deadline.
    case late = "Ferry-Late"
    /// The run of `ferry replay` that sends.
    case replay = "Ferry-Replay"
    /// In an answer, what a receiver takes besides single segments: ``AcceptedBodiesField``.
    case accepts = "Ferry-Accepts"
}
