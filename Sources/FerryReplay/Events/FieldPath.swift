/// Where in an event a value stands: `name`, `properties.total`, `properties["a key"]`.
struct FieldPath: Hashable, CustomStringConvertible {
    let components: [String]

    var description: String { components.joined(separator: ".") }

    /// `nil` for an empty component.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        components = parts
    }

    init(components: [String]) { self.components = components }
}
