import Crypto
public import FerrySpool

/// The keys that were accepted, and the digests of their bodies: 48 bytes each, so that millions fit.
public struct KeyIndex: Sendable {
    /// The first half of a key's SHA-256.
    private struct KeyHash: Hashable, Sendable {
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

    /// The digest of the body that came with a key; `nil` when the key is unknown.
    public subscript(key: String) -> BodyDigest? {
        get { digests[KeyHash(key)] }
        set { digests[KeyHash(key)] = newValue }
    }

    public init() {}

    /// Reads the log of a spool.
    public init(_ spool: Spool) throws(FileError) {
        var digests: [KeyHash: BodyDigest] = [:]
        try spool.forEachReceived { entry in
            if let digest = BodyDigest(hexadecimal: entry.sha256) { digests[KeyHash(entry.key)] = digest }
        }
        self.digests = digests
    }
}
