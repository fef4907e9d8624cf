import Crypto
public import FerrySpool

/// What is known of a key that came before.
public enum KnownKey: Equatable, Sendable {
    /// It came, with a body of this digest.
    case came(BodyDigest)
    /// It is the key of a half of a segment that came whole, or of a segment that came in halves: its events are there.
    case cameInParent

    /// Whether a body under this key holds what came before. The bytes themselves were never seen of what came in other parts.
    public func agrees(with digest: BodyDigest?) -> Bool {
        switch self {
        case .came(let known): known == digest
        case .cameInParent: true
        }
    }
}

/// The keys that were accepted, and the digests of their bodies: 56 bytes each, so that millions fit.
public struct KeyIndex: Sendable {
    /// The first half of a key's SHA-256, which is also the number of the ID that is made from a key (``ReceivedID``).
    private struct KeyHash: Hashable, Sendable {
        let number: UInt128

        init(_ number: UInt128) { self.number = number }
        init(_ key: String) { number = BodyDigest(SHA256.hash(data: Array(key.utf8))).firstHalf }
    }

    private struct Arrival: Sendable {
        let digest: BodyDigest
        /// What of the segment's name its halves have too; `nil` for another tool's name.
        let kin: Int?
    }

    private var arrivals: [KeyHash: Arrival] = [:]

    /// How often halves were split themselves, at most, when a whole is looked for in them: a split is made after two tries over a link, or for a
    /// size limit.
    private static let deepest = 8

    public init() {}

    public mutating func add(_ entry: ReceivedEntry) {
        guard let digest = BodyDigest(hexadecimal: entry.sha256) else { return }
        arrivals[KeyHash(entry.key)] = Arrival(digest: digest, kin: Self.kin(of: SegmentName(entry.segment)))
    }

    /// What is known of a key: by itself, as that of a half whose whole came, or of a whole whose halves came; `nil` when it is new.
    ///
    /// Halves have the name of their whole, but for what is appended to its ID. Keys that only look alike, as those that end in a counter, are other
    /// segments'.
    ///
    /// - Parameter segment: The segment's name.
    public func known(_ key: String, segment: SegmentName?) -> KnownKey? {
        if let arrival = arrivals[KeyHash(key)] { return .came(arrival.digest) }
        guard let kin = Self.kin(of: segment), let id = SegmentID(key) else { return nil }
        if SegmentID.ancestors(of: key).contains(where: { holds($0, kin) }) { return .cameInParent }
        return cameInHalves(id, kin, Self.deepest) ? .cameInParent : nil
    }

    /// Whether a segment of this ID came: under the ID as its key, or under the key that the ID is made from.
    private func holds(_ id: SegmentID, _ kin: Int) -> Bool {
        if let arrival = arrivals[KeyHash(id.text)], arrival.kin == kin { return true }
        return id.number.map { arrivals[KeyHash($0)] != nil } ?? false
    }

    private func cameInHalves(_ id: SegmentID, _ kin: Int, _ depth: Int) -> Bool {
        guard depth > 0, let halves = id.halves else { return false }
        return [halves.first, halves.second].allSatisfy {
            arrivals[KeyHash($0.text)]?.kin == kin || cameInHalves($0, kin, depth - 1)
        }
    }

    private static func kin(of segment: SegmentName?) -> Int? {
        guard let segment else { return nil }
        var hasher = Hasher()
        hasher.combine(segment.priority)
        hasher.combine(segment.created)
        hasher.combine(segment.stream)
        return hasher.finalize()
    }
}
