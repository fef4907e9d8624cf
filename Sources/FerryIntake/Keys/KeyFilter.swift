/// Tells of most keys that a run does not have them, without a look at its file: a Bloom filter whose bits for one key lie in one cache line
/// (Putze, Sanders, Singler: "Cache-, Hash- and Space-Efficient Bloom Filters", 2007).
struct KeyFilter: Equatable, Sendable {
    /// With six bits in a block of 512 a key that is not there passes in about one case of a hundred (KeyFilterTests count them).
    private static let bitsPerKey = 10
    private static let bitsSet = 6
    static let wordsPerBlock = 8

    private(set) var words: [UInt64]

    /// Creates an empty filter.
    ///
    /// - Parameter count: How many keys it is for; from 0.
    init(count: Int) {
        let (bits, isLarge) = count.multipliedReportingOverflow(by: Self.bitsPerKey)
        let blocks = isLarge ? Int.max >> 10 : bits / (Self.wordsPerBlock * 64) + 1
        words = [UInt64](repeating: 0, count: blocks * Self.wordsPerBlock)
    }

    /// Takes a filter as it was written; `nil` unless the words are whole blocks.
    init?(words: [UInt64]) {
        guard !words.isEmpty, words.count.isMultiple(of: Self.wordsPerBlock) else { return nil }
        self.words = words
    }

    mutating func insert(_ hash: KeyHash) {
        let start = block(of: hash)
        for bit in Self.bits(of: hash) { words[start + bit >> 6] |= 1 << UInt64(bit & 63) }
    }

    func mayContain(_ hash: KeyHash) -> Bool {
        let start = block(of: hash)
        return words.withUnsafeBufferPointer { words in
            Self.bits(of: hash).allSatisfy { words[start + $0 >> 6] & 1 << UInt64($0 & 63) != 0 }
        }
    }

    private func block(of hash: KeyHash) -> Int {
        let blocks = UInt64(words.count / Self.wordsPerBlock)
        return Int(hash.high.multipliedFullWidth(by: blocks).high) * Self.wordsPerBlock
    }

    /// Numbers of bits in a block, from the half of the hash that does not choose the block.
    private static func bits(of hash: KeyHash) -> some Sequence<Int> {
        (0..<bitsSet).lazy.map { Int(hash.low >> UInt64($0 * 9) & 511) }
    }
}
