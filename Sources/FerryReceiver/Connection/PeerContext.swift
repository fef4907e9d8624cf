import FerrySpool
import Hummingbird
import NIOCore
import NIOSSL

/// A request with the connection that it came over.
struct PeerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The other side's address.
    var address: String { channel.remoteAddress?.ipAddress ?? "?" }

    /// Returns the SHA-256 of the certificate that the other side showed, and proved to have the key of; `nil` when it showed none.
    func certificate() async -> BodyDigest? {
        guard let certificate = try? await channel.nioSSL_peerCertificate().get() else { return nil }
        return try? ClientCertificate.digest(certificate)
    }
}
