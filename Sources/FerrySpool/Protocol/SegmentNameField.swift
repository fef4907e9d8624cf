/// `Ferry-Segment` of a request for one segment: its file name, percent-encoded where another tool gave it.
package enum SegmentNameField: Equatable, Sendable {
    case own(SegmentName)
    /// Another tool's, decoded.
    case foreign(String)

    package static let header = FerryHeader.segment

    /// Returns the value for a file name.
    ///
    /// - Parameter isForeign: Whether another tool gave it: then it may hold what headers must not.
    package static func text(_ name: String, isForeign: Bool) -> String { isForeign ? name.percentEncodedForURL : name }

    /// Reads a value; `nil` where it can be no segment's file name.
    package init?(_ text: String) {
        if let name = SegmentName(text) {
            self = .own(name)
        } else {
            let name = String(percentDecoding: text) ?? text
            guard ForeignName.isLegal(name) else { return nil }
            self = .foreign(name)
        }
    }
}
