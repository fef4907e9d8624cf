import FerrySpool

/// What a request carries and says.
struct OutgoingRequest: Sendable {
    /// One segment's, or several that go out together.
    let facts: [SegmentMetadata]
    let body: RequestBody
    /// From 1.
    let attempt: Int
    /// Which lines of each, where they are not carried as they are.
    var slices: [RequestPart.Slice]?

    /// As far as known.
    var events: Int64 {
        if let slices { return slices.reduce(0) { $0.adding($1.events) } }
        return facts.reduce(0) { $0.adding($1.events ?? 1) }
    }

    /// The same for the same events in every process.
    var key: String {
        if let slices { return JoinedRequest.key(facts, slices) }
        return facts.count > 1 ? JoinedRequest.key(facts) : facts[0].idempotencyKey
    }
}
