/// `Ferry-Accepts`: what a receiver takes besides single segments, a structured field's list of tokens with parameters (RFC 9651):
/// `joined;bytes=16777216`.
package enum AcceptedBodiesField {
    package static let header = FerryHeader.accepts

    /// Returns the value of a receiver that takes several segments in one body.
    ///
    /// - Parameter mostJoined: The most bytes of such a body.
    package static func text(mostJoined: ByteCount) -> String { "joined;bytes=\(mostJoined.bytes)" }

    /// Returns the most bytes of several segments in one body; `nil` when the receiver takes none such. What is not known is passed over.
    package static func mostJoined(_ text: String) -> ByteCount? {
        for item in text.split(separator: ",") {
            let fields = item.split(separator: ";").map { $0.filter { $0 != " " } }
            guard fields.first == "joined" else { continue }
            for field in fields.dropFirst() where field.hasPrefix("bytes=") {
                if let bytes = Int64(field.dropFirst("bytes=".count)), bytes > 0 { return ByteCount(bytes) }
            }
        }
        return nil
    }
}
