import Glibc
import NIOCore
import NIOSSL
import Synchronization

/// A certificate or key file that cannot be used.
public struct TransportSetupError: Error, Equatable, CustomStringConvertible {
    public let description: String
}

/// Makes TLS for connections. Reading the system's certificates takes some milliseconds, which plain HTTP need not wait for.
final class TransportSecurity: Sendable {
    private let options: TransportOptions
    private let made = Mutex<NIOSSLContext?>(nil)

    init(_ options: TransportOptions) { self.options = options }

    func context() throws(TransportSetupError) -> NIOSSLContext {
        if let context = made.withLock({ $0 }) { return context }
        let context = try Self.makeContext(options)
        made.withLock { $0 = context }
        return context
    }

    private static func makeContext(_ options: TransportOptions) throws(TransportSetupError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
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
        if let path = options.certificate {
            configuration.certificateChain = try reading(path, "certificate") {
                try NIOSSLCertificate.fromPEMFile(path).map { .certificate($0) }
            }
        }
        if let path = options.privateKey {
            configuration.privateKey = .privateKey(
                try reading(path, "private key") { try NIOSSLPrivateKey(file: path, format: .pem) })
        }
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TransportSetupError(description: "TLS cannot be set up: \(error); do certificate and key belong together?")
        }
    }

    func makeHandler(_ origin: Origin) throws -> NIOSSLClientHandler {
        let context = try context()
        guard case .host(let host, _) = origin.address else {
            return try NIOSSLClientHandler(context: context, serverHostname: nil)
        }
        // Server name indication takes names, not addresses (RFC 6066, section 3).
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
