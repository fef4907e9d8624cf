import FerrySpool

/// An event as Sensors Analytics' SDK sends it: a `track` record, or `track_signup` at a login.
///
/// The fields are those of its published data format: `distinct_id` is the user, or the anonymous id while no user is logged in; `time` is in
/// milliseconds. What Ferry knows of the machine goes into `properties` under Sensors' names; the event's own properties go first.
struct SensorsRecord {
    private let event: TrackedEvent
    private let created: Timestamp

    init(_ line: UnsafeBufferPointer<UInt8>, created: Timestamp) throws(EventEncodingError) {
        event = try TrackedEvent(line)
        self.created = created
    }

    func append(to body: inout [UInt8]) throws(EventEncodingError) {
        let device = event.members(of: event.device)
        let anonymous = device.first { $0.key == "id" }.flatMap { event.text($0.value) }
        let user = event.text(event.user)
        guard let id = user ?? anonymous else {
            throw EventEncodingError(reason: "has neither a \"user\" nor a \"device\" with an \"id\", which a record needs")
        }
        let name = event.text(event.name) ?? ""
        let isSignUp = name == "$SignUp"
        body += "{\"type\":\"\(isSignUp ? "track_signup" : "track")\",\"event\":\(name.jsonQuoted)".utf8
        body += ",\"distinct_id\":\(id.jsonQuoted)".utf8
        if isSignUp, let anonymous { body += ",\"original_id\":\(anonymous.jsonQuoted)".utf8 }
        body += ",\"time\":\(try event.moment(or: created).milliseconds),\"properties\":{".utf8
        appendProperties(device, isLogin: user != nil, to: &body)
        body += "}}".utf8
    }

    /// Ferry's names for Sensors' presets.
    private static let presets: [String: String] = [
        "sdk": "$lib", "sdkVersion": "$lib_version", "app": "$app_name", "appVersion": "$app_version", "os": "$os",
        "osVersion": "$os_version", "model": "$model", "id": "$device_id",
    ]

    private func appendProperties(_ device: [(key: String, value: JSONField)], isLogin: Bool, to body: inout [UInt8]) {
        // The names of presets that it says itself; others are unique already, and texts that Unicode calls the same are two names.
        var known: Set<String> = []
        var isFirst = true
        func add(_ key: String, _ value: some Sequence<UInt8>) {
            if key.utf8.first == UInt8(ascii: "$") || key == "event_duration", !known.insert(key).inserted { return }
            body += "\(isFirst ? "" : ",")\(key.jsonQuoted):".utf8
            body += value
            isFirst = false
        }
        for (key, value) in event.uniqueMembers(of: event.properties) where value.kind != .null {
            // The one name of the tracker's own that is another there.
            add(key == "$event_duration" ? "event_duration" : key, event.bytes(value))
        }
        for (key, value) in device where value.kind != .null {
            if let preset = Self.presets[key] { add(preset, event.bytes(value)) }
            // Minutes to be added for UTC, as JavaScript counts them.
            if key == "timeZoneOffset", let minutes = value.integer(event.line) { add("$timezone_offset", "\(-minutes)".utf8) }
        }
        if isLogin { add("$is_login_id", "true".utf8) }
    }
}
