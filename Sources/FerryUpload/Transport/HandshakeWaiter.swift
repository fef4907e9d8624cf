import NIOCore
import NIOSSL
import NIOTLS

/// Tells when the TLS handshake is over, and whether it was with whom it should be.
final class HandshakeWaiter: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    private let promise: EventLoopPromise<Void>
    /// The host that the certificate must name.
    private let host: String

    init(_ promise: EventLoopPromise<Void>, expecting host: String) {
        self.promise = promise
        self.host = host
    }

    var finished: EventLoopFuture<Void> { promise.futureResult }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            if let problem = identity(context).problem(for: host) {
                promise.fail(TransportError.tls("\(host): \(problem)"))
            } else {
                promise.succeed()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func identity(_ context: ChannelHandlerContext) -> ServerIdentity {
        guard let certificate = (try? context.pipeline.syncOperations.nioSSL_peerCertificate()) ?? nil else {
            return ServerIdentity(names: [], addresses: [])
        }
        return ServerIdentity(certificate)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(NIOSSLError.uncleanShutdown)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { promise.fail(NIOSSLError.uncleanShutdown) }
}
