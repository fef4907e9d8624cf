/// The way that a segment came: through how many receivers, and out of which spools.
///
/// A receiver that finds its own spool in it has sent the segment on already. By its key the segment would be a duplicate there, and that
/// answer would end the only copy.
package struct Trail: Equatable, Sendable {
    /// Mail servers allow 25 to 100 hops (RFC 5321, section 6.3), and relays of events are few.
    package static let longest = 16

    /// Through how many receivers it came.
    package let hops: Int
    /// The IDs of the spools that it was sent from, the oldest first. Of a longer way the last ones.
    package let spools: [String]

    /// The trail of what was made here.
    package static let none = Trail(unchecked: 0, [])

    private init(unchecked hops: Int, _ spools: [String]) {
        self.hops = hops
        self.spools = spools
    }

    /// Creates a trail.
    ///
    /// - Returns: `nil` when the numbers are out of bounds, or a text can be no spool's ID.
    package init?(hops: Int, spools: [String] = []) {
        guard (0...Self.mostHops).contains(hops), spools.count <= Self.longest, spools.allSatisfy(SpoolID.isValid) else {
            return nil
        }
        self.init(unchecked: hops, spools)
    }

    /// Reads what ``text`` gives: the number of hops, and what earlier versions did not note, the IDs.
    package init?(_ text: some StringProtocol) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let hops = words.first.flatMap({ Int($0) }) else { return nil }
        self.init(hops: hops, spools: words[1...].map { String($0) })
    }

    /// The number of hops and the spools' IDs, separated by spaces.
    package var text: String { spools.reduce("\(hops)") { "\($0) \($1)" } }

    /// Returns the trail of what a receiver takes.
    ///
    /// - Parameter spool: The ID of the spool that it was sent from; `nil` where that is not known.
    package func adding(_ spool: String?) -> Trail {
        let spool = spool.flatMap { SpoolID.isValid($0) ? $0 : nil }
        return Trail(unchecked: min(hops + 1, Self.mostHops), (spools + [spool].compactMap(\.self)).suffix(Self.longest))
    }

    /// Returns the trail of a segment that came two ways: it must go back on neither.
    package func merging(_ other: Trail) -> Trail {
        let more = other.spools.filter { !spools.contains($0) }
        // The same way once more is no longer one: a second name of one file (ln) would be sent round until it came too far.
        if more.isEmpty, !other.spools.isEmpty { return self }
        return Trail(unchecked: max(hops, other.hops), (spools + more).suffix(Self.longest))
    }

    private static let mostHops = 999

    /// The bytes that ``text`` has at most.
    static let longestText = 3 + longest * 65
}
