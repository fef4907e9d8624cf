/// `Ferry-Segment` of a request that carries lines of segments: `NAME;lines="1-500", NAME`, a structured field's list with parameters (RFC 9651).
///
/// Such requests are for other servers: a receiver of Ferry's takes whole segments.
package enum SegmentLinesField {
    package static let header = FerryHeader.segment

    /// Returns the value for lines, counted from 0 here, and from 1 in the field.
    ///
    /// - Parameter segments: With no lines, all of them are sent.
    package static func text(_ segments: some Sequence<(name: String, isForeign: Bool, lines: Range<Int64>?)>) -> String {
        segments.map { segment in
            let name = SegmentNameField.text(segment.name, isForeign: segment.isForeign)
            return segment.lines.map { "\(name);lines=\"\($0.lowerBound + 1)-\($0.upperBound)\"" } ?? name
        }.joined(separator: ", ")
    }
}
