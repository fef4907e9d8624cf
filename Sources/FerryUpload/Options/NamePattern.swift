/// Patterns of names: `*` stands for any characters, `?` for one.
enum NamePattern {
    /// Returns whether a whole name has the form of a pattern. Takes time in proportion to the product of their lengths, at most.
    static func matches(_ name: String, _ pattern: String) -> Bool {
        let (name, pattern) = (Array(name.utf8), Array(pattern.utf8))
        var (place, rest) = (0, 0)
        // The last star, and where in the name what follows it was looked for.
        var star: (pattern: Int, place: Int)?
        while place < name.count {
            if rest < pattern.count, pattern[rest] == UInt8(ascii: "*") {
                star = (rest, place)
                rest += 1
            } else if rest < pattern.count, pattern[rest] == UInt8(ascii: "?") || pattern[rest] == name[place] {
                (place, rest) = (place + 1, rest + 1)
            } else if let last = star {
                (rest, place) = (last.pattern + 1, last.place + 1)
                star = (last.pattern, place)
            } else {
                return false
            }
        }
        return pattern[rest...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
