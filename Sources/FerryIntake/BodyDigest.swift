public import Crypto

/// SHA-256 of a body.
public struct BodyDigest: Hashable, Sendable {
    private var words: InlineArray<4, UInt64>

    public init(_ digest: SHA256.Digest) {
        words = digest.withUnsafeBytes { bytes in
            InlineArray { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self).bigEndian }
        }
    }

    /// `nil` unless it is 64 hexadecimal digits.
    public init?(hexadecimal text: String) {
        guard text.utf8.count == 64 else { return nil }
        var words = InlineArray<4, UInt64>(repeating: 0)
        for index in 0..<4 {
            guard let word = UInt64(text.dropFirst(index * 16).prefix(16), radix: 16) else { return nil }
            words[index] = word
        }
        self.words = words
    }

    public var hexadecimal: String {
        (0..<4).map { index in
            let digits = String(words[index], radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    public static func == (left: BodyDigest, right: BodyDigest) -> Bool {
        (0..<4).allSatisfy { left.words[$0] == right.words[$0] }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
}
