import NIOCore

/// Asks a proxy for a connection to an origin, and leaves the pipeline when it stands.
final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let request: String
    private let opened: EventLoopPromise<Void>
    private var answer = TunnelAnswer()
    private var isAsked = false
    private var isOver = false

    /// - Parameter opened: Kept when the tunnel stands.
    init(to host: String, port: Int, proxy: ProxySettings.Proxy, opened: EventLoopPromise<Void>) {
        let target = "\(host.contains(":") ? "[\(host)]" : host):\(port)"
        request =
            "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
            + (proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? "") + "\r\n"
        self.opened = opened
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { ask(context) } }

    func channelActive(context: ChannelHandlerContext) {
        ask(context)
        context.fireChannelActive()
    }

    private func ask(_ context: ChannelHandlerContext) {
        guard !isAsked else { return }
        isAsked = true
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return context.fireChannelRead(data) }
        switch answer.read(unwrapInboundIn(data).readableBytesView) {
        case .more: break
        case .open(let rest):
            isOver = true
            // The code that waits puts what speaks through the tunnel behind this handler.
            opened.succeed()
            if !rest.isEmpty { context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest))) }
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        case .refused(let status): fail(.proxy(status: status, "the proxy answers HTTP \(status)"))
        case .garbage: fail(.proxy(status: nil, "the proxy's answer is no HTTP"))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(TransportError.proxy(status: nil, "the proxy broke the connection"))
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(.proxy(status: nil, "the proxy closed the connection"))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { fail(.proxy(status: nil, "the proxy closed the connection")) }

    private func fail(_ failure: TransportError) {
        guard !isOver else { return }
        isOver = true
        opened.fail(failure)
    }
}
