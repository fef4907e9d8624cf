public import Crypto
public import FerrySpool

extension BodyDigest {
    public init(_ digest: SHA256.Digest) { self = digest.withUnsafeBytes { BodyDigest($0) } }
}
