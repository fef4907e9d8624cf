import FerrySpool

/// A line as an entry of a stream of Grafana Loki (Loki HTTP API, "Ingest logs"): its time in nanoseconds, and the line as it is.
enum LokiEntry {
    /// Returns what a request says of all its entries, before the first of them. Each set of labels is a stream there, so there are few.
    static func opening(of origin: SegmentOrigin, host: String) -> String {
        let stream = origin.stream.map { ",\"stream\":\($0.jsonQuoted)" } ?? ""
        let level = Severity(origin.priority).text.lowercased()
        return "{\"stream\":{\"job\":\"ferry\"\(stream),\"host\":\(host.jsonQuoted),\"level\":\"\(level)\"},\"values\":["
    }

    /// Appends an entry. A nanosecond a line keeps lines of one moment in order, and equal ones apart; at a repetition each has the time that it had,
    /// and Loki drops an entry of the same time and text.
    static func append(
        _ event: UnsafeBufferPointer<UInt8>, line: Int64, of origin: SegmentOrigin, to body: inout [UInt8]
    ) {
        let own = TrackedEvent(any: event).ownMoment?.unixNanoseconds
        // An event's own time is in milliseconds, and stays within its own.
        let time = own.map { $0.adding(line % 1_000_000) } ?? (origin.created.unixNanoseconds ?? 0).adding(line)
        body += "[\"\(time)\",\(String(decoding: event, as: UTF8.self).jsonQuoted)]".utf8
    }
}
