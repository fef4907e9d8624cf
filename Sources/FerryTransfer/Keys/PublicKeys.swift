import Crypto
import FoundationEssentials

/// What verifies and encrypts: the content of `NAME.pub`, which need not be kept secret.
public struct PublicKeys: Equatable, Sendable {
    let signing: Curve25519.Signing.PublicKey
    let agreement: Curve25519.KeyAgreement.PublicKey

    init(signing: Curve25519.Signing.PublicKey, agreement: Curve25519.KeyAgreement.PublicKey) {
        self.signing = signing
        self.agreement = agreement
    }

    /// Returns whether the two are the same keys.
    public static func == (left: PublicKeys, right: PublicKeys) -> Bool { left.text == right.text }

    static let kind = "ferry-public-key-1"

    /// Two words of base64 after the kind.
    public var text: String { KeyText.make(Self.kind, signing.rawRepresentation, agreement.rawRepresentation) }

    /// Reads keys from a file.
    public init(file path: String) throws(KeyError) {
        let (first, second) = try KeyText.read(
            path, Self.kind, "public",
            unlike: (
                PrivateKeys.kind, "is the private half, which stays secret; the public one is needed here: NAME.pub beside it"
            ))
        guard let signing = try? Curve25519.Signing.PublicKey(rawRepresentation: first),
            let agreement = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: second)
        else { throw KeyError(description: "\(path) holds no public key of Ferry's; ferry keygen makes one") }
        self.signing = signing
        self.agreement = agreement
    }
}
