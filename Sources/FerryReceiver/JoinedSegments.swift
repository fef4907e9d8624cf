import FerrySpool
import HTTPTypes

/// Which segments a body carries, and where each ends.
enum JoinedSegments {
    struct Part: Equatable {
        let identity: SegmentIdentity
        /// `nil`: the whole body.
        let bytes: ByteCount?
    }

    /// Why a body that carries several cannot be cut.
    struct Unclear: Error, Equatable {}

    /// `Ferry-Segment` names one segment, or lists several with the bytes of each: `NAME;bytes=4096, NAME;bytes=512`.
    static func parts(_ headers: HTTPFields, now: Timestamp) throws(Unclear) -> [Part] {
        guard let header = headers[HTTPField.Name("Ferry-Segment")!], header.contains(",") else {
            return [Part(identity: SegmentIdentity(headers, now: now), bytes: nil)]
        }
        var parts: [Part] = []
        for item in header.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.count == 2, let name = SegmentName(fields[0]), fields[1].hasPrefix("bytes="),
                let bytes = Int64(fields[1].dropFirst("bytes=".count)), bytes > 0
            else { throw Unclear() }
            parts.append(Part(identity: SegmentIdentity(name), bytes: ByteCount(bytes)))
        }
        guard Set(parts.map(\.identity.key)).count == parts.count else { throw Unclear() }
        return parts
    }
}
