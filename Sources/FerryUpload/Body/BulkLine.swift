import FerrySpool

/// An event as a document of Elasticsearch or OpenSearch: an action, and the event as it is (Elasticsearch reference, "Bulk API").
enum BulkLine {
    /// Appends both.
    ///
    /// The ID is made of the segment and the line, the same at every try: with `create` a document that is there already is not made again.
    static func append(
        _ event: UnsafeBufferPointer<UInt8>, line: Int64, of origin: SegmentOrigin, to body: inout [UInt8]
    ) throws(EventEncodingError) {
        var walker = JSONWalker(event)
        walker.skipSpace()
        guard walker.take(UInt8(ascii: "{")) else { throw EventEncodingError(reason: "is no JSON object, which a document is") }
        body += "{\"create\":{\"_id\":\("\(origin.key)-\(line)".jsonQuoted)}}\n".utf8
        body += event
    }
}
