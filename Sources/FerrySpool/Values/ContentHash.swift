// Before Crypto: what it imports would otherwise become the home of types that other files know from Glibc.
import CLinux
import Crypto

/// SHA-256 of content that is read piece by piece.
package struct ContentHash {
    private var hash = SHA256()

    mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    mutating func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { add($0) } }

    func finish() -> BodyDigest { hash.finalize().withUnsafeBytes { BodyDigest($0) } }

    /// Returns the SHA-256 of bytes that are in memory.
    package static func of(_ bytes: some Collection<UInt8>) -> BodyDigest {
        var hash = SHA256()
        hash.update(data: Array(bytes))
        return hash.finalize().withUnsafeBytes { BodyDigest($0) }
    }
}
