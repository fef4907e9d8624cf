import Crypto
import FerrySpool

/// The keys that were accepted, and the digests of their bodies: 48 bytes each, so that millions fit.
struct KeyIndex {
    /// The first half of a key's SHA-256.
    private struct KeyHash: Hashable {
        var high: UInt64
        var low: UInt64

        init(_ key: String) {
            let digest = SHA256.hash(data: Array(key.utf8))
            (high, low) = digest.withUnsafeBytes {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
        }
    }

    private var digests: [KeyHash: BodyDigest] = [:]

    subscript(key: String) -> BodyDigest? {
        get { digests[KeyHash(key)] }
        set { digests[KeyHash(key)] = newValue }
    }

    init() {}

    /// Reads the log of a spool.
    init(_ spool: Spool) throws(FileError) {
        var digests: [KeyHash: BodyDigest] = [:]
        try spool.forEachReceived { entry in
            if let digest = BodyDigest(hexadecimal: entry.sha256) { digests[KeyHash(entry.key)] = digest }
        }
        self.digests = digests
    }
}

/// SHA-256 of a body.
struct BodyDigest: Hashable, Sendable {
    private var words: InlineArray<4, UInt64>

    init(_ digest: SHA256.Digest) {
        words = digest.withUnsafeBytes { bytes in
            InlineArray { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self).bigEndian }
        }
    }

    init?(hexadecimal text: String) {
        guard text.utf8.count == 64 else { return nil }
        var words = InlineArray<4, UInt64>(repeating: 0)
        for index in 0..<4 {
            guard let word = UInt64(text.dropFirst(index * 16).prefix(16), radix: 16) else { return nil }
            words[index] = word
        }
        self.words = words
    }

    var hexadecimal: String {
        (0..<4).map { index in
            let digits = String(words[index], radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    static func == (left: BodyDigest, right: BodyDigest) -> Bool {
        (0..<4).allSatisfy { left.words[$0] == right.words[$0] }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(words[0]) }
}
