import Crypto
import FerrySpool
import FoundationEssentials

/// Why a key file cannot be used.
public struct KeyError: Error, Equatable, CustomStringConvertible {
    public let description: String
}

/// What signs bundles and receipts, and opens what was encrypted to it: the content of `NAME.key`, for its owner alone.
public struct PrivateKeys: Sendable {
    let signing: Curve25519.Signing.PrivateKey
    let agreement: Curve25519.KeyAgreement.PrivateKey

    /// New ones, from the system's random source.
    public init() {
        signing = .init()
        agreement = .init()
    }

    public var publicKeys: PublicKeys { PublicKeys(signing: signing.publicKey, agreement: agreement.publicKey) }

    private static let kind = "ferry-private-key-1"

    /// Two words of base64 after the kind.
    public var text: String {
        KeyText.make(Self.kind, signing.rawRepresentation, agreement.rawRepresentation)
    }

    public init(file path: String) throws(KeyError) {
        let (first, second) = try KeyText.read(path, Self.kind, "private")
        guard let signing = try? Curve25519.Signing.PrivateKey(rawRepresentation: first),
            let agreement = try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: second)
        else { throw KeyError(description: "\(path) holds no private key of Ferry's; ferry keygen makes one") }
        self.signing = signing
        self.agreement = agreement
    }
}

/// What verifies and encrypts: the content of `NAME.pub`, for everybody.
public struct PublicKeys: Equatable, Sendable {
    let signing: Curve25519.Signing.PublicKey
    let agreement: Curve25519.KeyAgreement.PublicKey

    init(signing: Curve25519.Signing.PublicKey, agreement: Curve25519.KeyAgreement.PublicKey) {
        self.signing = signing
        self.agreement = agreement
    }

    public static func == (left: PublicKeys, right: PublicKeys) -> Bool { left.text == right.text }

    private static let kind = "ferry-public-key-1"

    public var text: String { KeyText.make(Self.kind, signing.rawRepresentation, agreement.rawRepresentation) }

    public init(file path: String) throws(KeyError) {
        let (first, second) = try KeyText.read(path, Self.kind, "public")
        guard let signing = try? Curve25519.Signing.PublicKey(rawRepresentation: first),
            let agreement = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: second)
        else { throw KeyError(description: "\(path) holds no public key of Ferry's; ferry keygen makes one") }
        self.signing = signing
        self.agreement = agreement
    }
}

/// `KIND BASE64 BASE64`, one line.
private enum KeyText {
    static func make(_ kind: String, _ first: Data, _ second: Data) -> String {
        "\(kind) \(first.base64EncodedString()) \(second.base64EncodedString())\n"
    }

    static func read(_ path: String, _ kind: String, _ what: String) throws(KeyError) -> (Data, Data) {
        let text: String
        do throws(FileError) {
            // A pipe would be waited for.
            let bytes = try OpenFile.readingRegular(path)?.readBytes(1024, at: 0)
            text = String(decoding: bytes ?? [], as: UTF8.self)
        } catch {
            throw KeyError(description: error.description)
        }
        let words = text.split(whereSeparator: { $0 == " " || $0.isNewline })
        guard words.count == 3, words[0] == kind, let first = Data(base64Encoded: String(words[1])),
            let second = Data(base64Encoded: String(words[2]))
        else { throw KeyError(description: "\(path) holds no \(what) key of Ferry's; ferry keygen makes one") }
        return (first, second)
    }
}
