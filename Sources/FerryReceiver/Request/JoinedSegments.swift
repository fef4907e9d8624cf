import FerrySpool
import HTTPTypes

/// Which segments a body carries, and where each ends.
enum JoinedSegments {
    struct Part: Equatable {
        let identity: SegmentIdentity
        /// `nil`: the whole body.
        let bytes: ByteCount?
        /// What the sender's clock said when the segment was opened, where that is not its time.
        var clock: Timestamp?
        /// The way that it came to the sender.
        var trail = Trail.none
        /// How long before now it was opened, by the sender's word; `nil` where that gives none.
        var age: Duration?

        /// Returns when it was opened, by this machine's clock, where the one was behind that gave it its name.
        func dated(at now: Timestamp) -> Timestamp? {
            guard let age else { return nil }
            let dated = now - age
            return dated - identity.name.created > Self.tolerance ? dated : nil
        }

        func with(identity: SegmentIdentity) -> Part {
            Part(identity: identity, bytes: bytes, clock: clock, trail: trail, age: age)
        }

        /// What NTP may step, many times over, and what a request may take on its way.
        private static let tolerance = Duration.seconds(600)
    }

    /// Reads which segments a request carries: `Ferry-Segment` names one segment, or lists several with the bytes of each.
    static func parts(_ headers: HTTPFields, now: @autoclosure () -> Timestamp) throws(RequestHeaderError) -> [Part] {
        let hops = try hops(headers)
        let segments: [(identity: SegmentIdentity, bytes: ByteCount?)]
        let trails: [Trail]?
        if let header = headers[.ferrySegment], SegmentListField.isList(header) {
            guard let list = SegmentListField.segments(header) else { throw .parts }
            segments = list.map { (SegmentIdentity($0.name), $0.bytes) }
            trails = ViaField.trails(headers[.ferryVia], hops: hops, count: list.count)
        } else {
            segments = [(try SegmentIdentity(headers, now: now()), nil)]
            trails = ViaField.trail(headers[.ferryVia], hops: hops).map { [$0] }
        }
        guard let trails else { throw .via }
        let clocks = ClockReadingsField.readings(headers[.ferryCreatedClock], count: segments.count)
        let ages = AgesField.ages(headers[.ferryAge], count: segments.count)
        // Without an age both times are the sender's clock's.
        let sentAt = headers[.ferrySentAt].flatMap { Timestamp(rfc3339: $0) }
        return segments.indices.map { index in
            let (identity, bytes) = segments[index]
            return Part(
                identity: identity, bytes: bytes, clock: clocks[index], trail: trails[index],
                age: ages[index] ?? sentAt.map { max(.zero, $0 - identity.name.created) })
        }
    }

    private static func hops(_ headers: HTTPFields) throws(RequestHeaderError) -> Int {
        guard let text = headers[.ferryHops] else { return 0 }
        guard let hops = HopsField.hops(text) else { throw .hops }
        return hops
    }
}
