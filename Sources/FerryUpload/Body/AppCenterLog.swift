import FerrySpool

/// An event as App Center's SDK sends it: an `event` log with typed properties, or `startSession`.
///
/// The fields are those of its published ingestion models (Device, AbstractLog, EventLog, StartSessionLog).
struct AppCenterLog {
    private let event: TrackedEvent
    private let created: Timestamp

    init(_ line: UnsafeBufferPointer<UInt8>, created: Timestamp) throws(EventEncodingError) {
        event = try TrackedEvent(line)
        self.created = created
    }

    func append(to body: inout [UInt8]) throws(EventEncodingError) {
        let moment = try event.moment(or: created)
        let name = event.text(event.name) ?? ""
        let startsSession = event.startsSession
        body += "{\"type\":\"\(startsSession ? "startSession" : "event")\",\"timestamp\":".utf8
        // As it is written: it may be finer than milliseconds.
        body += (event.text(event.time) ?? moment.rfc3339).jsonQuoted.utf8
        if let session = event.text(event.session) { body += ",\"sid\":\(session.jsonQuoted)".utf8 }
        if let user = event.text(event.user) { body += ",\"userId\":\(user.jsonQuoted)".utf8 }
        appendDevice(to: &body)
        if !startsSession {
            if let id = event.text(event.id) { body += ",\"id\":\(id.jsonQuoted)".utf8 }
            body += ",\"name\":\(name.jsonQuoted)".utf8
            appendProperties(to: &body)
        }
        body.append("}")
    }

    /// Ferry's names for App Center's. The program's version stands for its build as well.
    private static let deviceFields: [String: [String]] = [
        "sdk": ["sdkName"], "sdkVersion": ["sdkVersion"], "model": ["model"], "os": ["osName"], "osVersion": ["osVersion"],
        "kernel": ["osBuild"], "locale": ["locale"], "timeZoneOffset": ["timeZoneOffset"], "country": ["carrierCountry"],
        "app": ["appNamespace"], "appVersion": ["appVersion", "appBuild"],
    ]

    /// What App Center requires of a device; `und` is the undetermined language (BCP 47).
    private static let required: [(field: String, fallback: String)] = [
        ("sdkName", "\"ferry\""), ("sdkVersion", "\"\(FerryVersion.current)\""), ("osName", "\"Linux\""), ("osVersion", "\"0\""),
        ("locale", "\"und\""), ("timeZoneOffset", "0"), ("appVersion", "\"0\""), ("appBuild", "\"0\""),
    ]

    private func appendDevice(to body: inout [UInt8]) {
        body.append(",\"device\":{")
        var known: Set<String> = []
        for (key, value) in event.members(of: event.device) {
            guard value.kind == (key == "timeZoneOffset" ? .number : .string) else { continue }
            for field in Self.deviceFields[key] ?? [] where !known.contains(field) {
                body += "\(known.isEmpty ? "" : ",")\"\(field)\":".utf8
                body += event.bytes(value)
                known.insert(field)
            }
        }
        for (field, fallback) in Self.required where !known.contains(field) {
            body += "\(known.isEmpty ? "" : ",")\"\(field)\":\(fallback)".utf8
            known.insert(field)
        }
        body.append("}")
    }

    private func appendProperties(to body: inout [UInt8]) {
        var isFirst = true
        for (key, value) in event.uniqueMembers(of: event.properties) {
            guard let (type, text) = typed(value) else { continue }
            body += "\(isFirst ? ",\"typedProperties\":[" : ",")\(type),\"name\":\(key.jsonQuoted),\"value\":".utf8
            body += text
            body.append("}")
            isFirst = false
        }
        if !isFirst { body.append("]") }
    }

    /// Returns the start of a typed property, and its value. App Center knows no lists and objects: they are text.
    private func typed(_ value: JSONField) -> (type: String, value: [UInt8])? {
        let bytes = event.bytes(value)
        switch value.kind {
        case .null: return nil
        case .string: return ("{\"type\":\"string\"", Array(bytes))
        case .yes, .no: return ("{\"type\":\"boolean\"", Array(bytes))
        case .number:
            let isWhole = !bytes.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }
            let fits =
                isWhole ? value.integer(event.line).flatMap { Int64(exactly: $0) } != nil : value.number(event.line).isFinite
            // Its `long` has 64 bits with a sign. A number beyond them, or beyond every double, keeps its digits as text.
            guard fits else { return ("{\"type\":\"string\"", JSONText.quoted(String(decoding: bytes, as: UTF8.self))) }
            return ("{\"type\":\"\(isWhole ? "long" : "double")\"", Array(bytes))
        case .object, .array: return ("{\"type\":\"string\"", JSONText.quoted(String(decoding: bytes, as: UTF8.self)))
        }
    }
}
