/// What a run has left out of its sources, in all of its processes: a part of its position, so that the last process tells what the earlier
/// ones found, although they were killed before they could.
package struct ReplayFindings: Codable, Equatable, Sendable {
    /// A source that cannot be read.
    package struct Damage: Codable, Equatable, Sendable {
        /// The source's path.
        package var path: String
        /// Why it cannot be read, for people.
        package var reason: String
    }

    /// Events that the filter left out.
    package var leftOut: Int64 = 0
    /// Lines that are no JSON objects, or have no readable time where one is asked for.
    package var unreadable: Int64 = 0
    /// How many sources cannot be read.
    package var damaged: Int64 = 0
    /// The first sources that cannot be read, each with the reason.
    package var firstDamaged: [Damage] = []
    /// How many sources were longer than when the replay began; absent where an earlier version wrote.
    package var grown: Int64?

    /// The position is written often.
    static let mostNamed = 20
    private static let longestReason = 500

    /// Creates findings of nothing left out.
    package init() {}

    init(_ report: ReplayReport) {
        leftOut = report.leftOut
        unreadable = report.unreadable
        damaged = report.damagedCount
        grown = report.grownCount > 0 ? report.grownCount : nil
        firstDamaged = report.damaged.prefix(Self.mostNamed).map {
            Damage(path: $0.path, reason: String($0.reason.prefix(Self.longestReason)))
        }
    }

    /// Whether the numbers can be those of a replay.
    var isCredible: Bool {
        let counts: ClosedRange<Int64> = 0...(1 << 50)
        return [leftOut, unreadable, damaged, grown ?? 0].allSatisfy(counts.contains) && firstDamaged.count <= damaged
    }
}

extension ReplayReport {
    /// Begins with what earlier processes of the run found.
    init(_ findings: ReplayFindings) {
        leftOut = findings.leftOut
        unreadable = findings.unreadable
        damaged = findings.firstDamaged.map { ($0.path, $0.reason) }
        damagedUnnamed = findings.damaged - Int64(damaged.count)
        grownEarlier = findings.grown ?? 0
    }
}
