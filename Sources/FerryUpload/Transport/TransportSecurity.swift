import Glibc
import NIOCore
import NIOSSL
import Synchronization

/// A certificate or key file that cannot be used.
public struct TransportSetupError: Error, Equatable, CustomStringConvertible {
    /// What is wrong with the file, in words.
    public let description: String
}

/// Makes TLS for connections. Reading the system's certificates takes some milliseconds, which plain HTTP need not wait for.
final class TransportSecurity: Sendable {
    private let options: TransportOptions
    private let home: Origin
    /// By whether the client shows its certificate: a credential, which never leaves its origin.
    private let made = Mutex<[Bool: NIOSSLContext]>([:])

    /// - Parameter home: The destination's origin.
    init(_ options: TransportOptions, home: Origin) {
        self.options = options
        self.home = home
    }

    /// Reads the certificate files.
    func check() throws(TransportSetupError) { _ = try context(showsCertificate: true) }

    private func context(showsCertificate: Bool) throws(TransportSetupError) -> NIOSSLContext {
        if let context = made.withLock({ $0[showsCertificate] }) { return context }
        let context = try Self.makeContext(options, showsCertificate)
        made.withLock { $0[showsCertificate] = context }
        return context
    }

    private static func makeContext(
        _ options: TransportOptions, _ showsCertificate: Bool
    ) throws(TransportSetupError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // HandshakeWaiter compares the names. NIOSSL takes a certificate for the socket's other end as well: a proxy, or the machine that a forged
        // answer of DNS leads to.
        configuration.certificateVerification = .noHostnameVerification
        func reading<Value>(_ path: String, _ what: String, _ body: () throws -> Value) throws(TransportSetupError) -> Value {
            do {
                return try body()
            } catch {
                let isReadable = access(path, R_OK) == 0
                throw TransportSetupError(
                    description: isReadable
                        ? "\(path) holds no \(what) in PEM form"
                        : "cannot read \(what) \(path): \(String(cString: strerror(errno)))")
            }
        }
        if let path = options.certificateAuthority {
            configuration.trustRoots = .certificates(try reading(path, "certificate") { try NIOSSLCertificate.fromPEMFile(path) })
        }
        if showsCertificate, let path = options.certificate {
            configuration.certificateChain = try reading(path, "certificate") {
                try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) }
            }
        }
        if showsCertificate, let path = options.privateKey {
            configuration.privateKey = .privateKey(
                try reading(path, "private key") { try NIOSSLPrivateKey(file: path, format: .pem) })
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TransportSetupError(description: "TLS cannot be set up: \(error); do certificate and key belong together?")
        }
    }

    /// Returns what encrypts a connection. Whether the certificate is the host's, ``HandshakeWaiter`` tells.
    func makeHandler(_ origin: Origin) throws -> NIOSSLClientHandler {
        let context = try context(showsCertificate: origin == home)
        guard case .host(let host, _) = origin.address else {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
        // Server name indication takes names, not addresses (RFC 6066, section 3).
        return try NIOSSLClientHandler(context: context, serverHostname: ServerIdentity.address(host) == nil ? host : nil)
    }
}
