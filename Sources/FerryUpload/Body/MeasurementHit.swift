import FerrySpool

/// An event as a hit of the Measurement Protocol, version 1: `v=1&tid=…&cid=…&t=event&ec=…&ea=…`.
///
/// The event's name is the action (`ea`). Its properties `category`, `label` and `value` are what they are called, `cd1`, `cm1` and so on are custom
/// dimensions and metrics; the protocol has no place for others. A value is a whole number from 0. The queue time (`qt`) tells how long ago the
/// event was.
struct MeasurementHit {
    private let event: TrackedEvent
    private let created: Timestamp

    init(_ line: UnsafeBufferPointer<UInt8>, created: Timestamp) throws(EventEncodingError) {
        event = try TrackedEvent(line)
        self.created = created
    }

    /// What a server takes of one hit; it passes over longer ones without a word (Measurement Protocol reference, limits).
    private static let longest = 8192

    /// - Returns: How many bytes more the hit may have when it is sent later: its queue time has more digits then.
    func append(trackingID: String, now: Timestamp, to hit: inout [UInt8]) throws(EventEncodingError) -> Int {
        let start = hit.count
        let device = Dictionary(event.members(of: event.device)) { $1 }
        let all = event.uniqueMembers(of: event.properties)
        let properties = Dictionary(all) { $1 }
        guard let client = event.text(device["id"]) else {
            throw EventEncodingError(reason: "has no \"device\" with an \"id\", which a hit needs")
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
        // Both must not be empty.
        add("ec", [properties["category"].flatMap(plain), app].compactMap(\.self).first { !$0.isEmpty } ?? "event")
        add("ea", name)
        add("el", properties["label"].flatMap(plain))
        add("ev", properties["value"].flatMap(whole))
        // Sessions end by the property's own time-out: a program that goes to the background may come back to its.
        add("sc", event.startsSession ? "start" : nil)
        add("an", app)
        add("av", event.text(device["appVersion"]))
        add("ul", event.text(device["locale"])?.lowercased().replacing("_", with: "-"))
        for (key, value) in all where Self.isCustom(key) { add(key, plain(value)) }
        let queueTime = "\(max(0, (now - (try event.moment(or: created))).wholeMilliseconds))"
        add("qt", queueTime)
        guard hit.count - start <= Self.longest else {
            throw EventEncodingError(
                reason: "is a hit of \(hit.count - start) bytes; servers take \(Self.longest) and pass over longer ones")
        }
        return max(0, Self.longestQueueTime - queueTime.utf8.count)
    }

    /// In digits: three years. A request that is repeated then has the same hits, and so the same key.
    private static let longestQueueTime = 11

    /// Returns whether a key is a custom dimension or metric: `cd1`…`cd200` and `cm1`…`cm200`.
    private static func isCustom(_ key: String) -> Bool {
        guard key.hasPrefix("cd") || key.hasPrefix("cm"), let number = Int(key.dropFirst(2)) else { return false }
        // As it is written: no sign, and no zero before it.
        return (1...200).contains(number) && "\(number)" == key.dropFirst(2)
    }

    /// Returns a whole number from 0, of a number or of text, exactly; a fraction is rounded. `nil` for everything else: the protocol has no place
    /// for it.
    private func whole(_ value: JSONField) -> String? {
        switch value.kind {
        case .string: value.string(event.line).wholeNumber
        case .number:
            if let number = value.integer(event.line) {
                number >= 0 && number <= Int64.max ? "\(number)" : nil
            } else {
                Int64(exactly: value.number(event.line).rounded()).flatMap { $0 >= 0 ? "\($0)" : nil }
            }
        case .null, .yes, .no, .object, .array: nil
        }
    }

    /// Returns a value as text; lists and objects as JSON.
    private func plain(_ value: JSONField) -> String? {
        switch value.kind {
        case .null: nil
        case .string: value.string(event.line)
        case .number, .yes, .no, .object, .array: String(decoding: event.bytes(value), as: UTF8.self)
        }
    }
}

extension String {
    /// Itself, where it is a whole number from 0 of at most 63 bits.
    fileprivate var wholeNumber: String? {
        utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(self).map { "\($0)" } : nil
    }
}
