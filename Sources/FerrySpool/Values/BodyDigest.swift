/// SHA-256 of a body.
package struct BodyDigest: Hashable, Sendable {
    private var words: InlineArray<4, UInt64>

    /// Takes a hash as it is in memory.
    ///
    /// - Parameter bytes: The 32 bytes of the hash.
    package init(_ bytes: UnsafeRawBufferPointer) {
        words = InlineArray { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self).bigEndian }
    }

    /// Reads a hash from text; `nil` unless it is 64 hexadecimal digits.
    package init?(hexadecimal text: String) {
        // A sign, which numbers may have, is no digit.
        guard text.utf8.count == 64, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") }) else { return nil }
        var words = InlineArray<4, UInt64>(repeating: 0)
        for index in 0..<4 {
            guard let word = UInt64(text.dropFirst(index * 16).prefix(16), radix: 16) else { return nil }
            words[index] = word
        }
        self.words = words
    }

    /// The hash as 64 lowercase hexadecimal digits.
    package var hexadecimal: String {
        (0..<4).map { String(words[$0], radix: 16, width: 16) }.joined()
    }

    /// The 32 bytes of the hash.
    package var bytes: [UInt8] { (0..<32).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - $0 % 8 * 8)) } }

    /// Returns whether the two are the same hash.
    package static func == (left: BodyDigest, right: BodyDigest) -> Bool {
        (0..<4).allSatisfy { left.words[$0] == right.words[$0] }
    }

    /// The first 128 bits.
    package var firstHalf: UInt128 { UInt128(words[0]) << 64 | UInt128(words[1]) }

    /// Hashes the first 64 bits, which are as good as any.
    package func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
}
