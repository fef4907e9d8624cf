import FerrySpool
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

extension TransportError {
    /// What an error on an open connection means.
    init(_ error: any Error, isStale: Bool) {
        switch error {
        case let failure as TransportError: self = failure
        // The connection ended within an answer's head: the server had begun, so it had the request.
        case HTTPParserError.invalidEOFState:
            self = .closed("the destination closed the connection within its answer", isStale: false)
        case let error as HTTPParserError: self = .garbage("the destination's answer is no HTTP: \(error)")
        case let error as IOError: self = .closed("the connection broke: \(Self.describe(error))", isStale: isStale)
        case NIOSSLError.uncleanShutdown:
            self = .closed("the destination closed the connection without an answer", isStale: isStale)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls(Self.describeTLS(error))
        case is ChannelError: self = .closed("the connection was closed", isStale: isStale)
        default: self = .closed("the connection broke: \(error)", isStale: isStale)
        }
    }

    /// What an error while connecting to `place` means.
    init(connecting error: any Error, to place: String) {
        switch error {
        case .proxy(let status, let message) as TransportError:
            self = .proxy(status: status, "cannot connect to \(place): \(message)")
        case let failure as TransportError: self = failure
        case let error as NIOConnectionError:
            let reasons = error.connectionErrors.map { Self.describe($0.error) }
            let lookup = error.dnsAError ?? error.dnsAAAAError
            let message =
                "cannot connect to \(place): \(reasons.first ?? (lookup == nil ? "no address" : "the name is not found"))"
            let errors = error.connectionErrors.map(\.error)
            let hasNoRoute = errors.isEmpty ? lookup != nil && Self.hasNoDefaultRoute : errors.allSatisfy(Self.isOfNoRoute)
            self = hasNoRoute ? .noRoute(message) : .connect(message)
        case let error as TransportSetupError: self = .tls(error.description)
        // A handshake that fails by certificate will fail again; one that breaks off is a bad link.
        case is NIOSSLError where Self.isBrokenOff(error):
            self = .connect("cannot connect to \(place): closed during the TLS handshake")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: self = .tls("\(place): \(Self.describeTLS(error))")
        default:
            let message = "cannot connect to \(place): \(Self.describe(error))"
            self = Self.isOfNoRoute(error) ? .noRoute(message) : .connect(message)
        }
    }

    /// Returns whether the kernel answered by itself: nothing has left this machine.
    private static func isOfNoRoute(_ error: any Error) -> Bool {
        (error as? IOError).map { [ENETUNREACH, ENETDOWN].contains($0.errnoCode) } ?? false
    }

    /// No resolver can be asked but one on this machine.
    private static var hasNoDefaultRoute: Bool {
        do throws(FileError) { return try RouteQuery().table().defaultInterface == nil } catch { return false }
    }

    private static func isBrokenOff(_ error: any Error) -> Bool {
        error as? NIOSSLError == .uncleanShutdown || "\(error)".contains("EOF during handshake")
    }

    private static func describe(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout(let time): "no answer in \(time.nanoseconds / 1_000_000_000) s"
        default: "\(error)"
        }
    }

    private static func describeTLS(_ error: any Error) -> String {
        let text = "\(error)"
        if text.contains("CERTIFICATE_VERIFY_FAILED") {
            return
                "the certificate cannot be verified: name its authority with --ca; where that is named, has it expired, or is this machine's clock wrong?"
        }
        if text.contains("WRONG_VERSION_NUMBER") { return "it does not speak TLS; should the URL begin with http:// ?" }
        if text.contains("CERTIFICATE_REQUIRED") || text.contains("ALERT_BAD_CERTIFICATE")
            || text.contains("ALERT_HANDSHAKE_FAILURE")
        {
            return "it does not accept this client; name its certificate with --cert and --key"
        }
        return "TLS failed: \(text)"
    }
}

extension TimeAmount {
    /// At most 290 years.
    init(_ duration: Duration) { self = .nanoseconds(Int64(min(max(duration.inSeconds * 1e9, -9.1e18), 9.1e18).rounded())) }
}
