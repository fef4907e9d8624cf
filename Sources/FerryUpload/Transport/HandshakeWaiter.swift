import NIOCore
import NIOSSL
import NIOTLS

/// Tells when the TLS handshake is over, and whether it was with whom it should be.
final class HandshakeWaiter: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    private let promise: EventLoopPromise<Void>
    /// The host that the certificate must name, where NIOSSL cannot compare it.
    private let host: String?

    init(_ promise: EventLoopPromise<Void>, expecting host: String?) {
        self.promise = promise
        self.host = host
    }

    var finished: EventLoopFuture<Void> { promise.futureResult }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            if let host, !covers(host, context) {
                promise.fail(TransportError.tls("\(host): the certificate is for another host; check the URL"))
            } else {
                promise.succeed()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func covers(_ host: String, _ context: ChannelHandlerContext) -> Bool {
        guard let certificate = (try? context.pipeline.syncOperations.nioSSL_peerCertificate()) ?? nil else { return false }
        return ServerIdentity(certificate).covers(host)
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
