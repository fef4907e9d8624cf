import FerrySpool

/// The parts of an event in FerryTracker's shape, where they stand in its line.
struct TrackedEvent {
    let line: UnsafeBufferPointer<UInt8>
    private(set) var name: JSONField?
    private(set) var time: JSONField?
    private(set) var id: JSONField?
    private(set) var session: JSONField?
    private(set) var user: JSONField?
    private(set) var device: JSONField?
    private(set) var properties: JSONField?
    private var isObject = false

    /// - Throws: When the line is no object with a name.
    init(_ line: UnsafeBufferPointer<UInt8>) throws(EventEncodingError) {
        self.init(any: line)
        guard isObject else { throw EventEncodingError(reason: "is no JSON object") }
        guard name?.kind == .string else {
            throw EventEncodingError(reason: "has no \"name\", which an event needs in this form of body")
        }
    }

    /// Takes any line. What is no object has no parts.
    init(any line: UnsafeBufferPointer<UInt8>) {
        self.line = line
        var walker = JSONWalker(line)
        isObject = walker.forEachMember { key, value in
            switch key.string(line) {
            case "name": name = value
            case "time": time = value
            case "id": id = value
            case "session": session = value
            case "user": user = value
            case "device": device = value
            case "properties": properties = value
            default: break
            }
        }
    }

    /// The line's value; `nil` when it is no JSON.
    var whole: JSONField? {
        var walker = JSONWalker(line)
        walker.skipSpace()
        let value = walker.value()
        walker.skipSpace()
        return walker.position == line.count ? value : nil
    }

    /// Returns the text of a field that is one.
    func text(_ field: JSONField?) -> String? { field?.kind == .string ? field?.string(line) : nil }

    /// Returns when the event was.
    ///
    /// - Parameter created: Stands for the time of an event that has none.
    /// - Throws: When what it says is neither text as in RFC 3339 nor a number, milliseconds since 1970, as Sensors' SDKs write it: another time
    ///   in its place would be a wrong one.
    func moment(or created: Timestamp) throws(EventEncodingError) -> Timestamp {
        guard let time, time.kind != .null else { return created }
        if let ownMoment { return ownMoment }
        let value = String(decoding: bytes(time).prefix(100), as: UTF8.self).printable()
        throw EventEncodingError(
            reason: "has \"time\" \(value), which is neither RFC 3339 (2026-11-21T03:15:02.123Z) nor milliseconds since 1970")
    }

    /// When the event was, as it says itself; `nil`: it does not, or not so that it can be read.
    var ownMoment: Timestamp? {
        guard let time else { return nil }
        if let text = text(time) { return Timestamp(rfc3339: text) }
        guard time.kind == .number, let milliseconds = Int64(exactly: time.number(line).rounded()),
            Self.milliseconds.contains(milliseconds)
        else { return nil }
        return Timestamp(milliseconds: milliseconds)
    }

    /// From 1973 on, so that seconds are not taken for milliseconds, to the last year that RFC 3339 can write.
    private static let milliseconds: ClosedRange<Int64> = 100_000_000_000...253_402_300_799_999

    /// Returns the members of an object, in their order, each key once: with its last value, as JSON readers have it.
    func uniqueMembers(of field: JSONField?) -> [(key: String, value: JSONField)] {
        let members = members(of: field)
        // Keys are compared by their bytes; a set of text takes two for one only where Unicode does.
        if Set(members.map(\.key)).count == members.count { return members }
        var last: [[UInt8]: Int] = [:]
        for (index, member) in members.enumerated() { last[Array(member.key.utf8)] = index }
        return members.enumerated().filter { last[Array($0.element.key.utf8)] == $0.offset }.map(\.element)
    }

    /// Whether a session begins with it. Trackers of earlier versions did not tell: there each start of the program counts.
    var startsSession: Bool {
        guard let name = text(name), ["$AppStart", "$AppStartPassively", "$SessionStart"].contains(name) else { return false }
        return members(of: properties).first { $0.key == "$is_new_session" }?.value.kind != .no
    }

    /// Returns a field's bytes, a string's with its quotes.
    func bytes(_ field: JSONField) -> Slice<UnsafeBufferPointer<UInt8>> { line[field.whole] }

    /// Returns the members of an object, in their order.
    func members(of field: JSONField?) -> [(key: String, value: JSONField)] {
        guard let field, field.kind == .object else { return [] }
        var members: [(key: String, value: JSONField)] = []
        var walker = JSONWalker(line, at: field.range.lowerBound)
        _ = walker.forEachMember { key, value in members.append((key.string(line), value)) }
        return members
    }
}
