/// `Ferry-Segment` of a request for several whole segments, in the order of the body: `NAME;bytes=4096, NAME;bytes=512`, a structured field's list
/// with parameters (RFC 9651).
package enum SegmentListField {
    package static let header = FerryHeader.segment

    /// Returns the value for segments with names of the format.
    package static func text(_ segments: some Sequence<(name: String, bytes: ByteCount)>) -> String {
        segments.map { "\($0.name);bytes=\($0.bytes.bytes)" }.joined(separator: ", ")
    }

    /// Returns whether a value lists segments, and does not name a single one.
    package static func isList(_ text: String) -> Bool { text.contains(",") }

    /// Reads a value; `nil` unless it lists segments by names of the format, each once, and each with its bytes.
    package static func segments(_ text: String) -> [(name: SegmentName, bytes: ByteCount)]? {
        var segments: [(name: SegmentName, bytes: ByteCount)] = []
        for item in text.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.count == 2, let name = SegmentName(fields[0]), fields[1].hasPrefix("bytes="),
                let bytes = Int64(fields[1].dropFirst("bytes=".count)), bytes > 0
            else { return nil }
            segments.append((name, ByteCount(bytes)))
        }
        guard !segments.isEmpty, Set(segments.map(\.name.id)).count == segments.count else { return nil }
        return segments
    }
}
