import Crypto
import FoundationEssentials

/// What signs bundles and receipts, and opens what was encrypted to it: the content of `NAME.key`, for its owner alone.
public struct PrivateKeys: Sendable {
    let signing: Curve25519.Signing.PrivateKey
    let agreement: Curve25519.KeyAgreement.PrivateKey

    /// Creates new keys from the system's random source.
    public init() {
        signing = .init()
        agreement = .init()
    }

    /// The public keys that belong to these.
    public var publicKeys: PublicKeys { PublicKeys(signing: signing.publicKey, agreement: agreement.publicKey) }

    static let kind = "ferry-private-key-1"

    /// Two words of base64 after the kind.
    public var text: String {
        KeyText.make(Self.kind, signing.rawRepresentation, agreement.rawRepresentation)
    }

    /// Reads keys from a file.
    public init(file path: String) throws(KeyError) {
        let (first, second) = try KeyText.read(
            path, Self.kind, "private",
            unlike: (PublicKeys.kind, "is the public half, and the private one is needed here: NAME.key beside it"))
        guard let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: first),
            let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: second)
        else { throw KeyError(description: "\(path) holds no private key of Ferry's; ferry keygen makes one") }
        self.signing = signing
        self.agreement = agreement
    }
}
