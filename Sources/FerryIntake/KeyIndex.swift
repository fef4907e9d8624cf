import Crypto
public import FerrySpool

/// What is known of a key that came before.
public enum KnownKey: Equatable, Sendable {
    /// It came, with a body of this digest.
    case came(BodyDigest)
    /// It is the key of a half of a segment that came whole: the half's events are there.
    case cameInParent

    /// Whether a body under this key holds what came before. The bytes of a half were never seen.
    public func agrees(with digest: BodyDigest?) -> Bool {
        switch self {
        case .came(let known): known == digest
        case .cameInParent: true
        }
    }
}

/// The keys that were accepted, and the digests of their bodies: 48 bytes each, so that millions fit.
public struct KeyIndex: Sendable {
    /// The first half of a key's SHA-256, which is also the number of the ID that is made from a key (``ReceivedID``).
    private struct KeyHash: Hashable, Sendable {
        let number: UInt128

        init(_ number: UInt128) { self.number = number }
        init(_ key: String) { number = BodyDigest(SHA256.hash(data: Array(key.utf8))).firstHalf }
    }

    private var digests: [KeyHash: BodyDigest] = [:]

    /// The digest of the body that came with a key; `nil` when the key is unknown.
    public subscript(key: String) -> BodyDigest? {
        get { digests[KeyHash(key)] }
        set { digests[KeyHash(key)] = newValue }
    }

    /// What is known of a key, by itself or as that of a half; `nil` when it is new.
    public func known(_ key: String) -> KnownKey? {
        if let digest = self[key] { return .came(digest) }
        return SegmentID.ancestors(of: key).contains(where: holds) ? .cameInParent : nil
    }

    /// Whether a segment of this ID came: under the ID as its key, or under the key that the ID is made from.
    private func holds(_ id: SegmentID) -> Bool {
        self[id.text] != nil || id.number.map { digests[KeyHash($0)] != nil } ?? false
    }

    public mutating func add(_ entry: ReceivedEntry) {
        if let digest = BodyDigest(hexadecimal: entry.sha256) { self[entry.key] = digest }
    }

    public init() {}
}
