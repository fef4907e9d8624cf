/// A value of a YAML document, with the line where it begins. What an alias stands for is in its place.
///
/// All scalars are text: what a number or a truth value is, the setting knows.
struct YAMLNode {
    enum Content {
        case scalar(String)
        case sequence([YAMLNode])
        /// With all keys, also those that are there twice.
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    let content: Content
    let line: Int
    /// How many nodes it is, with those in it.
    let count: Int

    init(_ content: Content, line: Int) {
        self.content = content
        self.line = line
        switch content {
        case .scalar: count = 1
        case .sequence(let nodes): count = nodes.reduce(1) { $0 + $1.count }
        case .mapping(let pairs): count = pairs.reduce(1) { $0 + $1.key.count + $1.value.count }
        }
    }

    var scalar: String? {
        if case .scalar(let text) = content { return text }
        return nil
    }
}
