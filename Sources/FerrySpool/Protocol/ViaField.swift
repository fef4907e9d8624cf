/// `Ferry-Via`: for each of a request's segments the IDs of the spools that it came out of, with spaces between them, or `-`.
package enum ViaField {
    package static let header = FerryHeader.via

    /// Returns the value; `nil` where no segment came out of a spool that is known.
    package static func text(_ trails: [Trail]) -> String? {
        guard trails.contains(where: { !$0.spools.isEmpty }) else { return nil }
        return trails.map { text(of: $0) }.joined(separator: ", ")
    }

    /// Returns what stands for one segment.
    package static func text(of trail: Trail) -> String { trail.spools.isEmpty ? none : trail.spools.joined(separator: " ") }

    /// Reads the way of a request's only segment, whose IDs may have commas between them too; `nil` when it names what can be no spool, or too many.
    ///
    /// - Parameters:
    ///   - text: The value; `nil` where there is none.
    ///   - hops: What ``HopsField`` says.
    package static func trail(_ text: String?, hops: Int) -> Trail? {
        trail(ofOne: text.map { $0.replacing(",", with: " ")[...] }, hops: hops)
    }

    /// Reads the ways of as many segments as a request lists; `nil` when it names what can be no spool for one of them, or too many.
    package static func trails(_ text: String?, hops: Int, count: Int) -> [Trail]? {
        let items = text?.split(separator: ",") ?? []
        let trails = (0..<count).compactMap { trail(ofOne: items.indices.contains($0) ? items[$0] : nil, hops: hops) }
        return trails.count == count ? trails : nil
    }

    private static func trail(ofOne text: Substring?, hops: Int) -> Trail? {
        let spools = text?.split(separator: " ").map { String($0) } ?? []
        return Trail(hops: hops, spools: spools == [none] ? [] : spools)
    }

    private static let none = "-"
}
