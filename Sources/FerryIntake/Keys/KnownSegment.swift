package import FerrySpool

/// What is known of a key that came before.
package enum KnownKey: Equatable, Sendable {
    /// It came, with a body of this digest.
    case came(BodyDigest)
    /// It is the key of a half of a segment that came whole, or of a segment that came in halves: its events are there.
    case cameInParent
    /// It is the key of a segment of which a half came: some of its events are there, and some are not.
    case cameInPart

    /// Returns whether a body under this key holds what came before. The bytes themselves were never seen of what came in other parts.
    package func agrees(with digest: BodyDigest?) -> Bool {
        switch self {
        case .came(let known): known == digest
        case .cameInParent: true
        case .cameInPart: false
        }
    }
}

/// What is known of a segment, and by what.
package struct KnownSegment: Equatable, Sendable {
    /// What is known of its key.
    package let key: KnownKey
    /// What came before: the segment itself, its whole, or its halves.
    package let arrivals: [KnownArrival]

    /// Creates what is known of a segment.
    package init(key: KnownKey, arrivals: [KnownArrival]) {
        self.key = key
        self.arrivals = arrivals
    }

    /// Returns what is logged before the answer that a segment is here which was but noted; `nil` where nothing need be. It is a promise for what the
    /// sender asked about, and no more: for a half, where the whole lies here.
    ///
    /// - Parameter asked: What the sender asked about; without events where it does not say how many.
    package func answer(to asked: ReceivedEntry) -> ReceivedEntry? {
        guard let arrival = arrivals.first(where: { $0.noted != nil }), let noted = arrival.noted else { return nil }
        var answer = asked
        if answer.events == 0 {
            let own = SegmentName(asked.segment)?.id ?? asked.key
            let id = arrival.id?.text ?? own
            // By their number the halves of a segment are known.
            if own.hasPrefix(id) { answer.events = KeyIndex.share(of: noted.events, splits: own.dropFirst(id.count)) }
        }
        (answer.file, answer.bundle, answer.trail, answer.answered) = (nil, nil, arrival.way?.text, true)
        return answer
    }
}

/// A segment that came before: the one that is asked for, the whole of it, or one of its halves.
package struct KnownArrival: Equatable, Sendable {
    /// `nil`: that of the segment that is asked for.
    package let id: SegmentID?
    /// The way that it came, with the spool that sent it; `nil` where that was not noted.
    package let way: Trail?
    /// What was in it, where it came another way than over a receiver or in a bundle, by rsync say, and no sender got the answer yet that it is here.
    package let noted: CopiedContent?
    /// The name that it was noted under, where the index has it.
    package let segment: SegmentName?

    /// Creates a segment that came before.
    package init(id: SegmentID?, way: Trail?, noted: CopiedContent? = nil, segment: SegmentName? = nil) {
        self.id = id
        self.way = way
        self.noted = noted
        self.segment = segment
    }
}
