/// Finds the word that was meant.
enum NearestWord {
    /// Returns the known word with the fewest changes; `nil` when none is near.
    static func nearest(to word: String, among known: [String]) -> String? {
        let tolerated = max(1, min(3, word.count / 3))
        // A word of another length is at least the difference of the lengths away, and a key in a file may be long.
        let best = known.filter { abs($0.count - word.count) <= tolerated }.map { (word: $0, distance: distance(word, $0)) }
            .min { $0.distance < $1.distance }
        if let best, best.distance <= tolerated { return best.word }
        // The right word in the wrong place: `time` for `due.time`.
        let sameEnd = known.filter { $0.split(separator: ".").last.map(String.init) == word }
        return sameEnd.count == 1 ? sameEnd[0] : nil
    }

    /// Returns Levenshtein's distance: insertions, deletions and replacements.
    static func distance(_ left: String, _ right: String) -> Int {
        let right = Array(right)
        var row = Array(0...right.count)
        for (index, character) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let cost = min(row[column] + 1, row[column + 1] + 1, diagonal + (character == right[column] ? 0 : 1))
                diagonal = row[column + 1]
                row[column + 1] = cost
            }
        }
        return row[right.count]
    }
}
