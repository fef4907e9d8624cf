import FerrySpool

/// What the form of a body says of the segment that an event comes from.
struct SegmentOrigin: Sendable {
    /// Stands for the time of events that have none.
    let created: Timestamp
    /// The same at every try, and never the same for two segments.
    var key = ""
    var stream: String?
    var priority = Priority.normal
}
