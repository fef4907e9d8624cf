/// A name that a setting had in an earlier version, and still goes by.
struct FormerName: Equatable, CustomStringConvertible {
    let former: String
    let current: String

    var description: String { "'\(former)' is '\(current)' now; the old name still works" }

    private static let sections = [("deadline", "due")]

    /// `nil` when the name is no former one.
    init?(_ name: String) {
        guard let (former, current) = Self.sections.first(where: { name == $0.0 || name.hasPrefix($0.0 + ".") }) else {
            return nil
        }
        self.former = name
        self.current = current + name.dropFirst(former.count)
    }

    /// The former name of a setting; `nil` when it has none.
    init?(of key: String) {
        guard let (former, current) = Self.sections.first(where: { key.hasPrefix($0.1 + ".") }) else { return nil }
        self.former = former + key.dropFirst(current.count)
        self.current = key
    }
}
