package import Crypto
package import FerrySpool

extension BodyDigest {
    /// Takes the 32 bytes of a SHA-256.
    package init(_ digest: SHA256.Digest) { self = digest.withUnsafeBytes { BodyDigest($0) } }
}
