import FerrySpool

/// What a request carries and says.
struct OutgoingRequest: Sendable {
    /// One segment's, or several that go out together.
    let facts: [SegmentMetadata]
    let body: RequestBody
    /// From 1.
    let attempt: Int
    /// Of the body, where the destination wants it told.
    var digest: BodyDigest?
    /// Of the body, once the destination has asked for it.
    var md5: [UInt8]?
    /// Which lines of each, where they are not carried as they are.
    var slices: [RequestPart.Slice]?
    /// The segments' files and the spool that they lie in, for places that take them without requests.
    var source: (spool: Spool, claims: [Claim])?

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

    /// Returns what its header says of the segments and of itself.
    ///
    /// - Parameter now: When it is sent.
    func fields(at now: Timestamp) -> [(header: FerryHeader, value: String)] {
        var fields: [(header: FerryHeader, value: String)] = [
            (IdempotencyKeyField.header, IdempotencyKeyField.text(key)), segmentField, (.created, facts[0].created.rfc3339),
        ]
        if let readings = ClockReadingsField.text(facts.map(\.clockReading)) {
            fields.append((ClockReadingsField.header, readings))
        }
        if facts.contains(where: { $0.dated != nil }) {
            fields.append((AgesField.header, AgesField.text(facts.map { $0.age(at: now) })))
        }
        fields.append((.sentAt, now.rfc3339))
        fields.append((.spool, facts[0].spoolID))
        fields.append((.attempt, "\(attempt)"))
        if let events = knownEvents { fields.append((.events, "\(events)")) }
        let trails = facts.map(\.trail)
        if let hops = HopsField.text(trails) { fields.append((HopsField.header, hops)) }
        if let via = ViaField.text(trails) { fields.append((ViaField.header, via)) }
        if facts[0].isLate { fields.append((.late, "true")) }
        return fields
    }

    private var segmentField: (header: FerryHeader, value: String) {
        if let slices {
            let lines = zip(facts, slices).lazy.map { facts, slice in
                (name: facts.name, isForeign: facts.isForeign, lines: slice.isWhole ? nil : slice.lines)
            }
            return (SegmentLinesField.header, SegmentLinesField.text(lines))
        }
        if facts.count > 1 {
            return (SegmentListField.header, SegmentListField.text(facts.lazy.map { (name: $0.name, bytes: $0.bytes) }))
        }
        return (SegmentNameField.header, SegmentNameField.text(facts[0].name, isForeign: facts[0].isForeign))
    }

    /// `nil` where one of the segments does not tell how many it has.
    private var knownEvents: Int64? {
        if let slices { return slices.reduce(0) { $0.adding($1.events) } }
        return facts.reduce(0 as Int64?) { sum, facts in sum.flatMap { sum in facts.events.map(sum.adding) } }
    }
}
