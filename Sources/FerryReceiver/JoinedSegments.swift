import FerrySpool
import HTTPTypes

/// Which segments a body carries, and where each ends.
enum JoinedSegments {
    struct Part: Equatable {
        let identity: SegmentIdentity
        /// `nil`: the whole body.
        let bytes: ByteCount?
    }

    /// `Ferry-Segment` names one segment, or lists several with the bytes of each: `NAME;bytes=4096, NAME;bytes=512`.
    static func parts(_ headers: HTTPFields, now: Timestamp) throws(HeaderProblem) -> [Part] {
        guard let header = headers[.ferrySegment], header.contains(",") else {
            return [Part(identity: try SegmentIdentity(headers, now: now), bytes: nil)]
        }
        var parts: [Part] = []
        for item in header.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.count == 2, let name = SegmentName(fields[0]), fields[1].hasPrefix("bytes="),
                let bytes = Int64(fields[1].dropFirst("bytes=".count)), bytes > 0
            else { throw .parts }
            parts.append(Part(identity: SegmentIdentity(name), bytes: ByteCount(bytes)))
        }
        guard Set(parts.map(\.identity.key)).count == parts.count else { throw .parts }
        return parts
    }
}
