/// Fowler, Noll and Vo's hash of 64 bits, variant 1a: the same in every process and on every machine, and short to write in any language. For what
/// needs no secrecy.
///
/// Its values are in names of files and in keys that receivers remember, so they never change.
package struct StableHash: Equatable, Sendable {
    /// The hash of what was added so far.
    package private(set) var value: UInt64

    /// Creates the hash of no bytes.
    ///
    /// - Parameter start: Another start makes another hash of the same bytes.
    package init(startingAt start: UInt64 = 0xcbf2_9ce4_8422_2325) { value = start }

    /// Adds a byte.
    package mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// Adds bytes, one after the other.
    package mutating func add(_ bytes: some Sequence<UInt8>) { for byte in bytes { add(byte) } }

    /// Returns the hash of some bytes.
    package static func of(_ bytes: some Sequence<UInt8>, startingAt start: UInt64 = StableHash().value) -> UInt64 {
        var hash = StableHash(startingAt: start)
        hash.add(bytes)
        return hash.value
    }
}
