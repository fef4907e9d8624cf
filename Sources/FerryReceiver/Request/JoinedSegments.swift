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

    /// Reads which segments a request carries. `Ferry-Segment` names one segment, or lists several with the bytes of each:
    /// `NAME;bytes=4096, NAME;bytes=512`.
    static func parts(_ headers: HTTPFields, now: @autoclosure () -> Timestamp) throws(RequestHeaderError) -> [Part] {
        let clocks = clocks(headers)
        let hops = try hops(headers)
        guard let header = headers[.ferrySegment], header.contains(",") else {
            let identity = try SegmentIdentity(headers, now: now())
            // One segment's IDs may be a list of the header's.
            let ids = headers[.ferryVia].map { $0.replacing(",", with: " ")[...] }
            return [
                Part(
                    identity: identity, bytes: nil, clock: clocks.first ?? nil, trail: try trail(hops, ids),
                    age: age(0, of: identity.name, headers))
            ]
        }
        let ways = headers[.ferryVia]?.split(separator: ",") ?? []
        var parts: [Part] = []
        for item in header.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.count == 2, let name = SegmentName(fields[0]), fields[1].hasPrefix("bytes="),
                let bytes = Int64(fields[1].dropFirst("bytes=".count)), bytes > 0
            else { throw .parts }
            let clock = clocks.indices.contains(parts.count) ? clocks[parts.count] : nil
            let way = ways.indices.contains(parts.count) ? ways[parts.count] : nil
            let trail = try trail(hops, way)
            parts.append(
                Part(
                    identity: SegmentIdentity(name), bytes: ByteCount(bytes), clock: clock, trail: trail,
                    age: age(parts.count, of: name, headers)))
        }
        guard !parts.isEmpty, Set(parts.map(\.identity.key)).count == parts.count else { throw .parts }
        return parts
    }

    /// Reads the number of hops. `Ferry-Hops` has the most receivers that any of the segments came through.
    private static func hops(_ headers: HTTPFields) throws(RequestHeaderError) -> Int {
        guard let header = headers[.ferryHops] else { return 0 }
        guard let hops = Int(header), Trail(hops: hops) != nil else { throw .hops }
        return hops
    }

    /// Reads the way of a segment. `Ferry-Via` has the IDs of the spools that a segment came out of, with spaces between them, or `-`.
    private static func trail(_ hops: Int, _ ids: Substring?) throws(RequestHeaderError) -> Trail {
        let ids = ids.map { $0.split(separator: " ").map { String($0) } } ?? []
        guard let trail = Trail(hops: hops, spools: ids == ["-"] ? [] : ids) else { throw .via }
        return trail
    }

    /// Reads the age of a segment. `Ferry-Age` has the seconds since each segment was opened; without it both times are the sender's clock's.
    private static func age(_ number: Int, of name: SegmentName, _ headers: HTTPFields) -> Duration? {
        let ages = headers[.ferryAge]?.split(separator: ",") ?? []
        if ages.indices.contains(number), let age = Int64(ages[number].filter { $0 != " " }), longestAge.contains(age) {
            return .seconds(age)
        }
        return headers[.ferrySentAt].flatMap { Timestamp(rfc3339: $0) }.map { max(.zero, $0 - name.created) }
    }

    /// A hundred years.
    private static let longestAge: ClosedRange<Int64> = 0...3_155_760_000

    /// Reads what the clocks said. `Ferry-Created-Clock` has a time for each segment, or `-` for one whose clock was right.
    private static func clocks(_ headers: HTTPFields) -> [Timestamp?] {
        guard let header = headers[.ferryCreatedClock] else { return [] }
        return header.split(separator: ",").map { Timestamp(rfc3339: $0.filter { $0 != " " }) }
    }
}
