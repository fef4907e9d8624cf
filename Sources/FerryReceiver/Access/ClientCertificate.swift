import Crypto
import FerryIntake
package import FerrySpool
import NIOSSL

/// The certificate that a client shows, by which a machine may be known: this very one, whichever authority signed it.
package enum ClientCertificate {
    /// Why a certificate cannot be used.
    package struct UnusableError: Error, CustomStringConvertible {
        /// The reason, for people.
        package let description: String
    }

    /// Returns the SHA-256 of the first certificate of a PEM file, in its binary form (DER).
    package static func digest(_ path: String) throws(UnusableError) -> BodyDigest {
        let text: [UInt8]
        do throws(GivenFileError) { text = try GivenFile.bytes(path, limit: .mebibytes(1)) } catch {
            throw UnusableError(description: error.description)
        }
        let digest: BodyDigest?
        do {
            digest = try NIOSSLCertificate.fromPEMBytes(text).first.map { try Self.digest($0) }
        } catch {
            throw UnusableError(description: "\(path) is no certificate that can be read: it must be a PEM file")
        }
        guard let digest else { throw UnusableError(description: "there is no certificate in \(path)") }
        return digest
    }

    static func digest(_ certificate: NIOSSLCertificate) throws -> BodyDigest {
        BodyDigest(SHA256.hash(data: try certificate.toDERBytes()))
    }
}
