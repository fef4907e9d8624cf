/// How many spools are how: the last line of a table, as in `50 spools: 44 ok, 3 late`.
struct SpoolTotals: Equatable, Sendable, CustomStringConvertible {
    private(set) var spools = 0
    /// How many spools have a condition as their most troubling one.
    private(set) var counts: [SpoolCondition.Kind: Int] = [:]
    /// How many need a person.
    private(set) var needingPerson = 0

    /// Counts a spool.
    ///
    /// - Parameter conditions: The most troubling first.
    mutating func add(_ conditions: [SpoolCondition]) {
        spools += 1
        counts[conditions.first?.kind ?? .ok, default: 0] += 1
        if conditions.contains(where: \.needsPerson) { needingPerson += 1 }
    }

    var description: String {
        let words = ([.ok] + SpoolCondition.Kind.allCases.filter { $0 != .ok }).compactMap { kind in
            counts[kind].map { "\($0) \(kind == .ignored ? "with ignored files" : SpoolCondition(kind: kind).title)" }
        }
        return "\(counted(spools, "spool")): \(words.isEmpty ? "none" : words.joined(separator: ", "))"
    }
}
