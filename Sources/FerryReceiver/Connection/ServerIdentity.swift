import FerrySpool
import NIOSSL

/// The certificate and key that a receiver shows, as their files say: they are read again when one changes, so that a certificate can be renewed
/// while the receiver runs.
struct ServerIdentity: Equatable, Sendable {
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// Reads a certificate and its key.
    ///
    /// - Throws: ``ReceiverError/certificate(_:)`` where one cannot be read, or they do not belong together.
    init(certificate: String, key keyPath: String) throws(ReceiverError) {
        let (chainText, keyText) = (try Self.read(certificate), try Self.read(keyPath))
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(chainText)
            key = try NIOSSLPrivateKey(bytes: keyText, format: .pem)
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw .certificate(
                "cannot use certificate \(certificate) and key \(keyPath): \(error); both must be PEM files, and belong together")
        }
    }

    /// Follows the files.
    static func followed(certificate: String, key: String) throws -> FollowedFiles<ServerIdentity> {
        try FollowedFiles([certificate, key], waitsUntilQuiet: true) { try ServerIdentity(certificate: certificate, key: key) }
    }

    var configuration: TLSConfiguration {
        .makeServerConfiguration(certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    }

    /// What a handshake uses in place of what the receiver was started with.
    var override: NIOSSLContextConfigurationOverride {
        var override = NIOSSLContextConfigurationOverride()
        override.certificateChain = chain.map { .certificate($0) }
        override.privateKey = .privateKey(key)
        return override
    }

    private static func read(_ path: String) throws(ReceiverError) -> [UInt8] {
        // Chains have some thousand bytes.
        do throws(GivenFileError) { return try GivenFile.bytes(path, limit: .mebibytes(1)) } catch {
            throw .certificate(error.description)
        }
    }
}
