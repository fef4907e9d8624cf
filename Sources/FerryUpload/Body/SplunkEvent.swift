import FerrySpool

/// A line as an event of Splunk's HTTP Event Collector (Splunk documentation, "Format events for HTTP Event Collector").
enum SplunkEvent {
    /// Appends an event.
    ///
    /// - Throws: For what the collector takes for no event: it would refuse the request, and keep what stands before it.
    static func append(
        _ event: UnsafeBufferPointer<UInt8>, of origin: SegmentOrigin, host: String, to body: inout [UInt8]
    ) throws(EventEncodingError) {
        let tracked = TrackedEvent(any: event)
        guard let value = tracked.whole, value.kind != .null, value.kind != .string || !value.range.isEmpty else {
            throw EventEncodingError(reason: "is null or empty text, which Splunk takes for no event")
        }
        let time = tracked.ownMoment ?? origin.created
        let milliseconds = max(0, time.milliseconds)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        let source = origin.stream.map { "ferry:\($0)" } ?? "ferry"
        body += "{\"time\":\(milliseconds / 1000).\(fraction),\"host\":\(host.jsonQuoted),\"source\":\(source.jsonQuoted)".utf8
        body.append(",\"sourcetype\":\"_json\",\"event\":")
        body += event
        body.append("}")
    }
}
