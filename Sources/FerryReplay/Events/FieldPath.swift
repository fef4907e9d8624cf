import FerrySpool

/// Where in an event a value stands: `name`, `properties.total`, `properties["a key"]`.
struct FieldPath: Hashable, CustomStringConvertible {
    let components: [String]

    /// No event is deeper.
    static let deepest = JSONLineChecker.maximumDepth

    var description: String { components.joined(separator: ".") }

    /// Reads a dotted path; `nil` for an empty component, and for more of them than an event is deep.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= Self.deepest, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        components = parts
    }

    init(components: [String]) { self.components = components }
}
