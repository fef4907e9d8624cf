/// `Ferry-Hops`: the most receivers that any of a request's segments came through.
package enum HopsField {
    package static let header = FerryHeader.hops

    /// Returns the value; `nil` where all segments were made in the spool that sends them.
    package static func text(_ trails: [Trail]) -> String? {
        let hops = trails.reduce(0) { max($0, $1.hops) }
        return hops > 0 ? "\(hops)" : nil
    }

    /// Reads a value; `nil` for a number that no trail has.
    package static func hops(_ text: String) -> Int? { Int(text).flatMap { Trail(hops: $0)?.hops } }
}
