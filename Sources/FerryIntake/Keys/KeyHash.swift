import Crypto
import FerrySpool

/// What a key is looked for by: the first half of its SHA-256, which is also the number of the ID that is made from a key (`ReceivedID`).
struct KeyHash: Hashable, Comparable, Sendable {
    let number: UInt128

    init(_ number: UInt128) { self.number = number }
    init(_ key: String) { number = BodyDigest(SHA256.hash(data: Array(key.utf8))).firstHalf }

    var high: UInt64 { UInt64(truncatingIfNeeded: number >> 64) }
    var low: UInt64 { UInt64(truncatingIfNeeded: number) }

    static func < (left: KeyHash, right: KeyHash) -> Bool { left.number < right.number }
}
