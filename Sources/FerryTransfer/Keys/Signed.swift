import Crypto
import FoundationEssentials

/// A signature over something's SHA-256 and what it is, so that no signature serves for anything else.
struct Signed: Codable, Equatable, Sendable {
    var version = 1
    /// Of Ed25519 (RFC 8032), in base64.
    var signature: String

    enum Purpose: String { case bundle = "ferry bundle 1", receipt = "ferry receipt 1" }

    init(_ digest: SHA256.Digest, _ purpose: Purpose, by keys: PrivateKeys) {
        // Signing fails for no message and no key.
        let signature = try? keys.signing.signature(for: Self.message(digest, purpose))
        self.signature = (signature ?? Data()).base64EncodedString()
    }

    func isValid(for digest: SHA256.Digest, _ purpose: Purpose, by keys: PublicKeys) -> Bool {
        guard let bytes = Data(base64Encoded: signature) else { return false }
        return keys.signing.isValidSignature(bytes, for: Self.message(digest, purpose))
    }

    private static func message(_ digest: SHA256.Digest, _ purpose: Purpose) -> Data {
        Data(purpose.rawValue.utf8) + Data(digest)
    }
}
