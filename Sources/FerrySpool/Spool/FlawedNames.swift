/// Names in a spool that are nearly of the format: the first few, and how many there are.
package struct FlawedNames: Encodable, Sendable {
    /// A name, and what is wrong with it.
    package struct Name: Encodable, Equatable, Sendable {
        /// The file name.
        package let segment: String
        /// What is wrong with it, for people.
        package let problem: String
    }

    /// The first of them, three at most.
    package private(set) var first: [Name] = []
    /// How many there are.
    package private(set) var count = 0
    private static let shown = 3

    /// Creates a list of none.
    package init() {}

    /// Counts a name, and keeps it if it is one of the first.
    package mutating func add(_ name: String, _ flaw: NameFlaw) {
        count += 1
        if first.count < Self.shown { first.append(Name(segment: name, problem: "\(flaw)")) }
    }

    /// For people; empty when there are none.
    package var lines: [String] {
        guard count > 0 else { return [] }
        let what = count == 1 ? "1 name is" : "\(count) names are"
        let more = count > first.count ? ["… and \(count - first.count) more"] : []
        return ["\(what) nearly Ferry's, but sent as other tools' files, in the order of their modification:"]
            + first.map { "  \($0.segment): \($0.problem)" } + more.map { "  " + $0 }
    }
}

extension SpoolListing {
    /// Returns the names that are nearly of the format.
    package func flawedNames() -> FlawedNames {
        var flawed = FlawedNames()
        for entry in entries where entry.isForeign {
            let name = name(of: entry)
            if let flaw = NameFlaw(name) { flawed.add(name, flaw) }
        }
        return flawed
    }
}
