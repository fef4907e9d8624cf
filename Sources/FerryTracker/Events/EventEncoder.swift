import FerrySpool
import FoundationEssentials

/// Writes an event as a line of JSON, within the limits: the shape that spool/README.md documents.
struct EventEncoder: ~Copyable {
    private(set) var line = LineBuffer()
    private let limits: EventLimits
    /// What was cut off or left out.
    private(set) var truncated: [EventLimitError] = []
    private var refusal: EventLimitError?
    /// Whether what is being written is the program's own.
    private var isLimited = true
    /// Keys of properties that are as long as the limit, or were cut to it: of two that begin alike the first stands.
    private var longKeys: Set<String> = []
    /// In how many lists and objects of a property the next value lies.
    private var depth = 0

    /// The version of the shape.
    static let version: StaticString = "1"

    init(_ limits: EventLimits) { self.limits = limits }

    /// What an event is made of.
    struct Event {
        var time: Timestamp
        var name: String
        var id: EventID
        var context: EventContext
        /// The program's own.
        var properties: EventProperties
        /// The tracker's, with names that begin with `$`; they count to no limit.
        var reserved = EventProperties()
        /// Added where the event has no property of that name, in this order.
        var defaults: [EventProperties] = []
    }

    /// Writes the event with its line feed.
    mutating func encode(_ event: Event) throws(EventLimitError) {
        line.append("{\"v\":")
        line.append(Self.version)
        line.append(",\"time\":\"")
        line.append(event.time)
        line.append("\",\"name\":")
        if let length = appendLimited(event.name, limits.nameLength) {
            note(.name(length: length, maximum: limits.nameLength.maximum), limits.nameLength.policy)
        }
        line.append(",\"id\":\"")
        event.id.write(to: &line)
        line.append("\"")
        line.append(event.context.bytes)
        line.append(",\"properties\":{")
        encodeProperties(of: event)
        line.append("}}\n")
        if let refusal { throw refusal }
    }

    private mutating func encodeProperties(of event: Event) {
        let start = line.count
        var count = 0
        func isShadowed(_ key: String, by earlier: ArraySlice<EventProperties>) -> Bool {
            event.properties[key] != nil || event.reserved[key] != nil || earlier.contains { $0[key] != nil }
        }
        isLimited = false
        for (key, value) in event.reserved.members { encode(key, value, first: start) }
        isLimited = true
        // The tracker's own word counts: a key stands once.
        for (key, value) in event.properties.members where event.reserved.isEmpty || event.reserved[key] == nil {
            encodeCounted(key, value, first: start, &count)
        }
        for (index, properties) in event.defaults.enumerated() {
            for (key, value) in properties.members where !isShadowed(key, by: event.defaults[..<index]) {
                encodeCounted(key, value, first: start, &count)
            }
        }
        let limit = limits.properties
        if limit.policy != .off, count > limit.maximum {
            note(.properties(count: count, maximum: limit.maximum), limit.policy)
        }
    }

    private mutating func encodeCounted(_ key: String, _ value: PropertyValue, first: Int, _ count: inout Int) {
        count += 1
        if limits.properties.policy == .off || count <= limits.properties.maximum { encode(key, value, first: first) }
    }

    /// Appends a member of an object.
    ///
    /// - Parameter first: Where the object's first member begins.
    private mutating func encode(_ key: String, _ value: PropertyValue, first: Int) {
        if case .double(let number) = value, !number.isFinite, limits.notFinite != .off {
            return note(.notFinite(key: key), limits.notFinite)
        }
        let longest = limits.keyLength.maximum
        if key.utf8.count >= longest, depth == 0, isLimited, limits.keyLength.policy != .off,
            !longKeys.insert(key.cut(to: longest).map(String.init) ?? key).inserted
        {
            return note(.key(key, length: key.utf16.count, maximum: longest), limits.keyLength.policy)
        }
        if line.count > first { line.append(UInt8(ascii: ",")) }
        if let length = appendLimited(key, limits.keyLength) {
            note(.key(key, length: length, maximum: limits.keyLength.maximum), limits.keyLength.policy)
        }
        line.append(UInt8(ascii: ":"))
        encode(value, key: key)
    }

    private mutating func encode(_ value: PropertyValue, key: String) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= EventLimits.deepest else {
            // Receivers refuse a segment with an event that is too deep, and the others in it as well.
            line.append("null")
            return note(.depth(key: key), .truncate)
        }
        switch value {
        case .string(let text):
            if let length = appendLimited(text, limits.valueLength) {
                note(.value(key: key, length: length, maximum: limits.valueLength.maximum), limits.valueLength.policy)
            }
        case .bool(let value): line.append(value ? "true" : "false")
        case .int(let number): line.append(number)
        case .unsigned(let number): line.append(Array(String(number).utf8))
        case .double(let number) where number.isFinite: line.append(number)
        case .double:
            if limits.notFinite != .off { note(.notFinite(key: key), limits.notFinite) }
            line.append("null")
        case .date(let date):
            line.append(UInt8(ascii: "\""))
            line.append(Timestamp(date))
            line.append(UInt8(ascii: "\""))
        case .array(let elements):
            line.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { line.append(UInt8(ascii: ",")) }
                encode(element, key: key)
            }
            line.append(UInt8(ascii: "]"))
        case .object(let properties):
            line.append(UInt8(ascii: "{"))
            let start = line.count
            for (key, value) in properties.members { encode(key, value, first: start) }
            line.append(UInt8(ascii: "}"))
        }
    }

    /// Writes a text, cut where its limit is.
    ///
    /// - Returns: Its length, if that is beyond the limit.
    @inline(__always)
    private mutating func appendLimited(_ text: String, _ limit: EventLimits.Limit) -> Int? {
        // As many bytes are as many characters at the most.
        if text.utf8.count > limit.maximum, isLimited, limit.policy != .off, let cut = text.cut(to: limit.maximum) {
            line.appendQuoted(String(cut))
            return text.utf16.count
        }
        line.appendQuoted(text)
        return nil
    }

    private mutating func note(_ breach: EventLimitError, _ policy: EventLimits.Policy) {
        if policy == .drop { refusal = refusal ?? breach } else { truncated.append(breach) }
    }
}

extension Timestamp {
    /// A moment out of all reason is shown at the limit of what the format can say.
    init(_ date: Date) {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        // NaN compares with nothing.
        guard milliseconds > -62_135_596_800_000 else { self.init(milliseconds: -62_135_596_800_000); return }
        self.init(milliseconds: Int64(min(milliseconds, Double(Timestamp.distantFuture.milliseconds))))
    }
}
