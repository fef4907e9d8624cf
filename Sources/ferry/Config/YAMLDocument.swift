/// Reads the one document of a YAML text.
struct YAMLDocument: ~Copyable {
    /// A setting stands two mappings deep.
    private static let deepest = 32
    /// Aliases in what is repeated by aliases multiply a text: a kilobyte may stand for more than any memory holds.
    private static let mostRepeated = 10_000

    private var events: YAMLEvents
    private var anchors: [String: YAMLNode] = [:]
    private var depth = 0
    /// How many nodes aliases have stood for.
    private var repeated = 0

    /// Returns what the document holds; `nil` when the text has none, only comments perhaps.
    static func root(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
        var document = YAMLDocument(events: try YAMLEvents(bytes))
        return try document.read()
    }

    private init(events: consuming YAMLEvents) { self.events = events }

    private mutating func read() throws(YAMLError) -> YAMLNode? {
        // The start of the stream.
        _ = try events.next()
        guard case .documentStart = try events.next().event else { return nil }
        let root = try node(try events.next())
        // The document's end.
        _ = try events.next()
        let (event, line) = try events.next()
        guard case .streamEnd = event else {
            throw YAMLError(line: line, message: "no YAML: expected a single document in the stream but found another document")
        }
        return root
    }

    /// Returns the node that begins with an event.
    private mutating func node(_ first: (event: YAMLEvents.Event, line: Int)) throws(YAMLError) -> YAMLNode {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else {
            throw YAMLError(line: first.line, message: "it is nested more than \(Self.deepest) levels deep")
        }
        switch first.event {
        case .alias(let anchor):
            guard let node = anchors[anchor] else { throw YAMLError(line: first.line, message: "no YAML: found undefined alias") }
            repeated += node.count
            guard repeated <= Self.mostRepeated else {
                throw YAMLError(
                    line: first.line,
                    message: "it repeats itself by too many aliases (*name); write the values where they belong")
            }
            return node
        case .sequenceStart(let anchor):
            var nodes: [YAMLNode] = []
            while let node = try nextNode() { nodes.append(node) }
            return add(YAMLNode(.sequence(nodes), line: first.line), anchor)
        case .mappingStart(let anchor):
            var pairs: [(key: YAMLNode, value: YAMLNode)] = []
            while let key = try nextNode(), let value = try nextNode() { pairs.append((key, value)) }
            return add(YAMLNode(.mapping(pairs), line: first.line), anchor)
        case .scalar(let text, let anchor):
            return add(YAMLNode(.scalar(text), line: first.line), anchor)
        case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
            // libyaml's grammar has none of them here.
            throw YAMLError(line: first.line, message: "no YAML: a value is missing")
        }
    }

    /// Returns the next node of a sequence or mapping; `nil` at its end.
    private mutating func nextNode() throws(YAMLError) -> YAMLNode? {
        let next = try events.next()
        switch next.event {
        case .sequenceEnd, .mappingEnd: return nil
        default: return try node(next)
        }
    }

    /// Adds a node. A later anchor of the same name takes an earlier one's place.
    private mutating func add(_ node: YAMLNode, _ anchor: String?) -> YAMLNode {
        if let anchor { anchors[anchor] = node }
        return node
    }
}
