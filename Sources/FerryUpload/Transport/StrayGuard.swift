import NIOCore

/// Closes a connection on which something comes that was not asked for: what follows it cannot be told from an answer to the next request.
final class StrayGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// A request is under way.
    var expectsAnswer = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard expectsAnswer else { return context.close(promise: nil) }
        context.fireChannelRead(data)
    }
}
