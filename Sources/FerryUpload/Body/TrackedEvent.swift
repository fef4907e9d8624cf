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

    /// - Throws: When the line is no object with a name.
    init(_ line: UnsafeBufferPointer<UInt8>) throws(UnencodableEvent) {
        self.line = line
        var walker = JSONWalker(line)
        let isObject = walker.forEachMember { key, value in
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
        guard isObject else { throw UnencodableEvent(reason: "is no JSON object") }
        guard name?.kind == .string else {
            throw UnencodableEvent(reason: "has no \"name\", which an event needs in this form of body")
        }
    }

    /// The text of a field that is one.
    func text(_ field: JSONField?) -> String? { field?.kind == .string ? field?.string(line) : nil }

    /// Whether a session begins with it. Trackers of earlier versions did not tell: there each start of the program counts.
    var startsSession: Bool {
        guard let name = text(name), ["$AppStart", "$AppStartPassively", "$SessionStart"].contains(name) else { return false }
        return members(of: properties).first { $0.key == "$is_new_session" }?.value.kind != .no
    }

    /// A field's bytes, a string's with its quotes.
    func bytes(_ field: JSONField) -> Slice<UnsafeBufferPointer<UInt8>> { line[field.whole] }

    /// The members of an object, in their order.
    func members(of field: JSONField?) -> [(key: String, value: JSONField)] {
        guard let field, field.kind == .object else { return [] }
        var members: [(key: String, value: JSONField)] = []
        var walker = JSONWalker(line, at: field.range.lowerBound)
        _ = walker.forEachMember { key, value in members.append((key.string(line), value)) }
        return members
    }
}
