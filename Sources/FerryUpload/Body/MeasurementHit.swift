import FerrySpool

/// An event as a hit of the Measurement Protocol, version 1: `v=1&tid=…&cid=…&t=event&ec=…&ea=…`.
///
/// The event's name is the action (`ea`). Its properties `category`, `label` and `value` are what they are called, `cd1`, `cm1` and so on are custom
/// dimensions and metrics; the protocol has no place for others. The queue time (`qt`) tells how long ago the event was.
struct MeasurementHit {
    private let event: TrackedEvent
    private let created: Timestamp

    init(_ line: UnsafeBufferPointer<UInt8>, created: Timestamp) throws(UnencodableEvent) {
        event = try TrackedEvent(line)
        self.created = created
    }

    func append(trackingID: String, now: Timestamp, to hit: inout [UInt8]) throws(UnencodableEvent) {
        let device = Dictionary(event.members(of: event.device)) { $1 }
        let properties = Dictionary(event.members(of: event.properties)) { $1 }
        guard let client = event.text(device["id"]) else {
            throw UnencodableEvent(reason: "has no \"device\" with an \"id\", which a hit needs")
        }
        let name = event.text(event.name) ?? ""
        let app = event.text(device["app"])
        var isFirst = true
        func add(_ parameter: String, _ value: String?) {
            guard let value else { return }
            hit += "\(isFirst ? "" : "&")\(parameter)=\(value.percentEncodedForURL)".utf8
            isFirst = false
        }
        add("v", "1")
        add("tid", trackingID)
        add("cid", client)
        add("uid", event.text(event.user))
        add("t", "event")
        add("ec", properties["category"].flatMap(plain) ?? app ?? "event")
        add("ea", name)
        add("el", properties["label"].flatMap(plain))
        add(
            "ev", properties["value"].flatMap(plain).flatMap { Double($0) }.flatMap { Int(exactly: $0.rounded()) }.map { "\($0)" }
        )
        add("sc", event.startsSession ? "start" : name == "$AppEnd" ? "end" : nil)
        add("an", app)
        add("av", event.text(device["appVersion"]))
        add("ul", event.text(device["locale"])?.lowercased().replacing("_", with: "-"))
        for (key, value) in event.members(of: event.properties) where Self.isCustom(key) { add(key, plain(value)) }
        let time = event.text(event.time).flatMap { Timestamp(rfc3339: $0) } ?? created
        add("qt", "\(max(0, (now - time).wholeMilliseconds))")
    }

    /// `cd1`…`cd200` and `cm1`…`cm200`.
    private static func isCustom(_ key: String) -> Bool {
        (key.hasPrefix("cd") || key.hasPrefix("cm")) && Int(key.dropFirst(2)).map { (1...200).contains($0) } ?? false
    }

    /// A value as text; lists and objects as JSON.
    private func plain(_ value: JSONField) -> String? {
        switch value.kind {
        case .null: nil
        case .string: value.string(event.line)
        case .number, .yes, .no, .object, .array: String(decoding: event.bytes(value), as: UTF8.self)
        }
    }
}
