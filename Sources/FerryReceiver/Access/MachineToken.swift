import Crypto
import FerryIntake
package import FerrySpool

/// The secret that a machine shows: `ferry_` and 256 random bits, as 43 characters of base64url (RFC 4648, section 5).
///
/// The prefix lets secret scanners find one that was published by mistake. Only its SHA-256 is stored: 256 random bits need no salt and no slow hash.
package struct MachineToken: Sendable {
    /// The token as the machine shows it.
    package let text: String

    /// Makes a new token.
    package init(using generator: inout some RandomNumberGenerator) {
        var text = "ferry_"
        // 43 characters of 6 bits have two more than 256.
        for _ in 0..<43 { text.unicodeScalars.append(Self.alphabet[Int(generator.next(upperBound: UInt8(64)))]) }
        self.text = text
    }

    /// What is stored of it.
    package var digest: BodyDigest { Self.digest(of: text) }

    static func digest(of text: some StringProtocol) -> BodyDigest { BodyDigest(SHA256.hash(data: Array(text.utf8))) }

    /// Returns what is stored of the token that an `Authorization` header shows (RFC 6750); `nil` where it shows none.
    static func digest(ofHeader header: String?) -> BodyDigest? {
        guard let header, header.prefix(7).lowercased() == "bearer " else { return nil }
        return digest(of: header.dropFirst(7))
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".unicodeScalars)
}
