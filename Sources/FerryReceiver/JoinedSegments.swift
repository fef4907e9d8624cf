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
    }

    /// `Ferry-Segment` names one segment, or lists several with the bytes of each: `NAME;bytes=4096, NAME;bytes=512`.
    static func parts(_ headers: HTTPFields, now: @autoclosure () -> Timestamp) throws(HeaderProblem) -> [Part] {
        let clocks = clocks(headers)
        guard let header = headers[.ferrySegment], header.contains(",") else {
            return [Part(identity: try SegmentIdentity(headers, now: now()), bytes: nil, clock: clocks.first ?? nil)]
        }
        var parts: [Part] = []
        for item in header.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.count == 2, let name = SegmentName(fields[0]), fields[1].hasPrefix("bytes="),
                let bytes = Int64(fields[1].dropFirst("bytes=".count)), bytes > 0
            else { throw .parts }
            let clock = clocks.indices.contains(parts.count) ? clocks[parts.count] : nil
            parts.append(Part(identity: SegmentIdentity(name), bytes: ByteCount(bytes), clock: clock))
        }
        guard !parts.isEmpty, Set(parts.map(\.identity.key)).count == parts.count else { throw .parts }
        return parts
    }

    /// `Ferry-Created-Clock` has a time for each segment, or `-` for one whose clock was right.
    private static func clocks(_ headers: HTTPFields) -> [Timestamp?] {
        guard let header = headers[.ferryCreatedClock] else { return [] }
        return header.split(separator: ",").map { Timestamp(rfc3339: $0.filter { $0 != " " }) }
    }
}
