import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Keeps a connection from being held for nothing: refuses one too many, and ends one whose answer is there while its body still drips in.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: Connections
    private let patience: TimeAmount
    /// `nil` before it is counted, and after.
    private var address: String?
    private var isServed = true
    /// A request has begun, and its body has not ended.
    private var isReading = false
    private var closing: Scheduled<Void>?

    /// - Parameter patience: How long a body may go on that nothing reads: a sender that does not stop for the answer would never see it.
    init(_ connections: Connections, patience: TimeAmount) {
        self.connections = connections
        self.patience = patience
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end() }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard address == nil else { return }
        let address = context.remoteAddress?.ipAddress ?? ""
        self.address = address
        isServed = connections.begin(from: address)
    }

    private func end() {
        stopClosing()
        guard let address else { return }
        self.address = nil
        connections.end(from: address)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            if !isServed { refuse(context) }
        case .body: break
        case .end:
            isReading = false
            if isServed { stopClosing() } else { context.close(promise: nil) }
        }
        if isServed { context.fireChannelRead(data) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd, isReading { closeSoon(context) }
    }

    /// The body of a refused request is read to its end: who is cut off while it sends may never see the answer.
    private func refuse(_ context: ChannelHandlerContext) {
        let text = "{\"error\":\"too many connections\"}\n"
        var head = HTTPResponse(status: .serviceUnavailable)
        head.headerFields[.retryAfter] = "10"
        head.headerFields[.connection] = "close"
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.contentLength] = "\(text.utf8.count)"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        closeSoon(context)
    }

    private func stopClosing() {
        closing?.cancel()
        closing = nil
    }

    private func closeSoon(_ context: ChannelHandlerContext) {
        guard closing == nil else { return }
        closing = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { context.close(promise: nil) }
    }
}
