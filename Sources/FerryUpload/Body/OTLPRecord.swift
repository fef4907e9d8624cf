import FerrySpool

/// A line as a log record of OTLP (opentelemetry/proto/logs/v1/logs.proto, in its JSON encoding).
///
/// An event with a name has the name as its body and all else as attributes; of any other line the body is its value.
struct OTLPRecord {
    private let event: TrackedEvent
    private let origin: SegmentOrigin
    private let values: OTLPValue

    init(_ line: UnsafeBufferPointer<UInt8>, _ origin: SegmentOrigin) {
        event = TrackedEvent(any: line)
        values = OTLPValue(event: event)
        self.origin = origin
    }

    /// Returns what a request says of all its records, before the first of them.
    static func opening(of origin: SegmentOrigin, host: String) -> String {
        let service = OTLPValue.pair("service.name", origin.stream ?? "ferry")
        return "{\"resource\":{\"attributes\":[\(service),\(OTLPValue.pair("host.name", host))]},"
            + "\"scopeLogs\":[{\"scope\":{\"name\":\"ferry\",\"version\":\(FerryVersion.current.jsonQuoted)},\"logRecords\":["
    }

    func append(to body: inout [UInt8]) {
        let members = event.uniqueMembers(of: event.whole)
        let time = event.ownMoment?.unixNanoseconds
        body.append("{")
        if let time { body += "\"timeUnixNano\":\"\(time)\",".utf8 }
        // What is not known is 0 there.
        body += "\"observedTimeUnixNano\":\"\(origin.created.unixNanoseconds ?? 0)\"".utf8
        let own = ownSeverity(members)
        let severity = own?.severity ?? Severity(origin.priority)
        body += ",\"severityNumber\":\(severity.number),\"severityText\":\(severity.text.jsonQuoted),\"body\":".utf8
        if let name = event.text(event.name) {
            values.append(text: name, to: &body)
            var saidOtherwise: Set<String> = ["name", "id", "session", "user", "device"]
            if time != nil { saidOtherwise.insert("time") }
            if let own { saidOtherwise.insert(own.key) }
            appendAttributes(members.filter { !saidOtherwise.contains($0.key) }, to: &body)
        } else if let whole = event.whole {
            values.append(whole, to: &body)
        } else {
            values.append(text: String(decoding: event.line, as: UTF8.self), to: &body)
        }
        body.append("}")
    }

    /// Returns the severity that an event says itself, and the member that does.
    private func ownSeverity(_ members: [(key: String, value: JSONField)]) -> (key: String, severity: Severity)? {
        for (key, value) in members where key == "severity" || key == "level" {
            if let severity = event.text(value).flatMap(Severity.init(word:)) { return (key, severity) }
        }
        return nil
    }

    /// Appends the attributes of an event with a name, under the names that OpenTelemetry has for them.
    ///
    /// - Parameter others: Members that no other field of the record holds.
    private func appendAttributes(_ others: [(key: String, value: JSONField)], to body: inout [UInt8]) {
        let named = [
            ("event.name", event.name), ("log.record.uid", event.id), ("session.id", event.session), ("user.id", event.user),
            ("device", event.device),
        ]
        var used: Set<String> = []
        body.append(",\"attributes\":[")
        func add(_ key: String, _ value: JSONField) {
            var unused = key
            // A key stands once.
            while !used.insert(unused).inserted { unused = "_\(unused)" }
            values.append(unused, value, isFirst: used.count == 1, to: &body)
        }
        for case (let key, let value?) in named where value.kind != .null { add(key, value) }
        for (key, value) in event.uniqueMembers(of: event.properties) { add(key, value) }
        for (key, value) in others where key != "properties" || value.kind != .object { add(key, value) }
        body.append("]")
    }
}
