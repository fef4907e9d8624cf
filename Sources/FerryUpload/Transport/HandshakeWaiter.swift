import NIOCore
import NIOSSL
import NIOTLS

/// Tells when the TLS handshake is over.
final class HandshakeWaiter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias InboundOut = NIOAny

    private let promise: EventLoopPromise<Void>
    private let timeout: Scheduled<Void>

    init(_ eventLoop: any EventLoop, deadline: NIODeadline) {
        let promise = eventLoop.makePromise(of: Void.self)
        self.promise = promise
        timeout = eventLoop.scheduleTask(deadline: deadline) {
            promise.fail(TransportFailure.connect("no TLS handshake in time"))
        }
    }

    var finished: EventLoopFuture<Void> { promise.futureResult }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted = event as? TLSUserEvent {
            timeout.cancel()
            promise.succeed()
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timeout.cancel()
        promise.fail(NIOSSLError.uncleanShutdown)
        context.fireChannelInactive()
    }
}
