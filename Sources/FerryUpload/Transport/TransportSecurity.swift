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
    /// What connections differ in.
    private struct Kind: Hashable {
        /// Whether the client shows its certificate: a credential, which never leaves its origin.
        var showsCertificate: Bool
        /// Whether NIOSSL compares the certificate's names. Behind a tunnel it would compare them with the proxy.
        var comparesNames: Bool
    }

    private let options: TransportOptions
    private let home: Origin
    private let made = Mutex<[Kind: NIOSSLContext]>([:])

    /// - Parameter home: The destination's origin.
    init(_ options: TransportOptions, home: Origin) {
        self.options = options
        self.home = home
    }

    /// Reads the certificate files.
    func check() throws(TransportSetupError) { _ = try context(Kind(showsCertificate: true, comparesNames: true)) }

    private func context(_ kind: Kind) throws(TransportSetupError) -> NIOSSLContext {
        if let context = made.withLock({ $0[kind] }) { return context }
        let context = try Self.makeContext(options, kind)
        made.withLock { $0[kind] = context }
        return context
    }

    private static func makeContext(_ options: TransportOptions, _ kind: Kind) throws(TransportSetupError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if !kind.comparesNames { configuration.certificateVerification = .noHostnameVerification }
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
        if kind.showsCertificate, let path = options.certificate {
            configuration.certificateChain = try reading(path, "certificate") {
                try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) }
            }
        }
        if kind.showsCertificate, let path = options.privateKey {
            configuration.privateKey = .privateKey(
                try reading(path, "private key") { try NIOSSLPrivateKey(file: path, format: .pem) })
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TransportSetupError(description: "TLS cannot be set up: \(error); do certificate and key belong together?")
        }
    }

    /// - Parameter isBehindTunnel: Whether the socket's other end is a proxy: then ``HandshakeWaiter`` compares the names.
    func makeHandler(_ origin: Origin, isBehindTunnel: Bool) throws -> NIOSSLClientHandler {
        let context = try context(Kind(showsCertificate: origin == home, comparesNames: !isBehindTunnel))
        guard case .host(let host, _) = origin.address else {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
        // Server name indication takes names, not addresses (RFC 6066, section 3).
        return try NIOSSLClientHandler(context: context, serverHostname: ServerIdentity.address(host) == nil ? host : nil)
    }
}
