/// Counts lines that are not blank, fed in any pieces, without looking at what they hold.
struct LineCounter {
    /// Lines whose end was seen.
    private(set) var total: Int64 = 0
    /// Whether the line that is not ended yet holds anything.
    private(set) var hasRest = false

    /// Returns how many lines end in this piece.
    mutating func count(_ bytes: UnsafeRawBufferPointer) -> Int64 {
        let before = total
        bytes.asText.forEachLine { line, isEnded in
            if !hasRest { hasRest = !line.allSatisfy(\.isBlank) }
            guard isEnded else { return }
            if hasRest { total += 1 }
            hasRest = false
        }
        return total - before
    }

    /// The lines, with a last one that lacks its end.
    var totalAtEnd: Int64 { total + (hasRest ? 1 : 0) }
}

extension UInt8 {
    var isBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0d }
}
