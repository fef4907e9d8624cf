import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOSSL

/// Keeps a connection from being held for nothing: refuses one too many, and ends one whose client sends nothing of what it owes, whose answer is
/// there while its body still drips in, whose body does not end when the receiver does, or that sends many requests and waits for no answer.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let connections: Connections
    private let patience: TimeAmount
    private let endPatience: TimeAmount
    private let onRefused: @Sendable (RefusedRequestError, String) -> Void
    /// `nil` before it is counted, and after.
    private var address: String?
    private var fate = Connections.Fate.served
    private var isServed: Bool { fate == .served }
    /// A request has begun, and its body has not ended.
    private var isReading = false
    /// Requests that have begun, and whose answers have not ended.
    private var unanswered = 0
    private var closing: Scheduled<Void>?
    /// Since when the receiver waits for the next part of a request. `nil` while it reads nothing: a body that it is slow to take is not the
    /// client's fault.
    private var waitingSince: NIODeadline?
    private var idling: Scheduled<Void>?
    /// When the receiver ends: no body may go on for longer.
    private var end: NIODeadline?
    private var ending: Scheduled<Void>?

    /// Creates the handler of one connection.
    ///
    /// - Parameters:
    ///   - patience: How long the client may send nothing where it is its turn; and how long a body may go on that nothing reads: a sender that
    ///     does not stop for the answer would never see it.
    ///   - endPatience: How long a body may go on when the receiver ends.
    ///   - onRefused: Told of what is refused before it is a request that can be handled, with the other side's address.
    init(
        _ connections: Connections, patience: TimeAmount, endPatience: TimeAmount,
        onRefused: @escaping @Sendable (RefusedRequestError, String) -> Void
    ) {
        self.connections = connections
        self.patience = patience
        self.endPatience = endPatience
        self.onRefused = onRefused
    }

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { begin(context) } }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard address == nil else { return }
        let address = context.remoteAddress?.ipAddress ?? ""
        self.address = address
        fate = connections.begin(from: address)
        switch fate {
        case .served: watchIdling(context, until: context.eventLoop.now + patience)
        case .refused:
            closing = context.eventLoop.assumeIsolated().scheduleTask(in: Self.headPatience) { context.close(promise: nil) }
        case .dropped:
            context.close(promise: nil)
            onRefused(RefusedRequestError(.serviceUnavailable, "too many connections", closes: true), address)
        }
    }

    /// How long one too many may take to send a request that can be answered.
    private static let headPatience = TimeAmount.seconds(5)

    func read(context: ChannelHandlerContext) {
        // Bytes that make no part of a request yet are not what is waited for.
        waitingSince = waitingSince ?? context.eventLoop.now
        context.read()
    }

    /// Looks at a time whether the client has sent nothing for too long, and otherwise when that can be so.
    private func watchIdling(_ context: ChannelHandlerContext, until deadline: NIODeadline) {
        idling = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [self] in
            let now = context.eventLoop.now
            // Between the end of a request and its answer the client owes nothing.
            guard let waitingSince, isReading || unanswered == 0 else { return watchIdling(context, until: now + patience) }
            if waitingSince + patience > now { return watchIdling(context, until: waitingSince + patience) }
            context.close(promise: nil)
        }
    }

    private func leave() {
        idling?.cancel()
        idling = nil
        stopClosing()
        stopEnding()
        guard let address else { return }
        self.address = nil
        connections.end(fate, from: address)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waitingSince = nil
        if unanswered > Self.mostUnanswered { return }
        switch unwrapInboundIn(data) {
        case .head:
            unanswered += 1
            if unanswered > Self.mostUnanswered { return dropImpatient(context) }
            isReading = true
            if !isServed { refuse(context) }
            endInTime(context)
        case .body: break
        case .end:
            isReading = false
            stopEnding()
            if isServed { stopClosing() } else { context.close(promise: nil) }
        }
        if isServed { context.fireChannelRead(data) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            end = .now() + endPatience
            if isReading { endInTime(context) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The handler that reads a body reports what breaks within it.
        if !isReading, let reason = Self.reason(error) {
            onRefused(RefusedRequestError(.badRequest, reason, closes: true), address ?? "")
        }
        context.fireErrorCaught(error)
    }

    /// Returns why a connection carries no request, which the handlers before this one have answered; `nil`: the client went away.
    private static func reason(_ error: any Error) -> String? {
        switch error {
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection: nil
        case let error as HTTPParserError: "no request of HTTP/1.1: \(error)"
        case NIOSSLError.handshakeFailed(.sslError(let errors)) where errors != [.eofDuringHandshake]:
            "no TLS connection: \(errors.map(reason).joined(separator: ", "))"
        default: nil
        }
    }

    /// Returns the name that BoringSSL has for an error, without the place in its source.
    private static func reason(_ error: BoringSSLInternalError) -> String {
        let text = "\(error)"
        guard let start = text.firstRange(of: "OPENSSL_internal:")?.upperBound else { return text }
        return String(text[start...].prefix { $0 != " " })
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isEnd = if case .end = unwrapOutboundIn(data) { true } else { false }
        context.write(data, promise: promise)
        if isEnd {
            unanswered -= 1
            // From here on the client may send its next request.
            if waitingSince != nil { waitingSince = context.eventLoop.now }
        }
        if isEnd, isReading { closeSoon(context) }
    }

    /// What a client sends before it has an answer (RFC 9112, section 9.3.2) is read a buffer at a time, which thousands of short requests find room
    /// in, each far larger as a value. A client that waits for answers has one under way, or a few.
    private static let mostUnanswered = 16

    private func dropImpatient(_ context: ChannelHandlerContext) {
        let message = "more than \(Self.mostUnanswered) requests on one connection before the first is answered"
        onRefused(RefusedRequestError(.tooManyRequests, message, closes: true), address ?? "")
        context.close(promise: nil)
    }

    /// Refuses a request. The body of a refused request is read to its end: a client that is cut off while it sends may never see the answer.
    private func refuse(_ context: ChannelHandlerContext) {
        let refused = RefusedRequestError(.serviceUnavailable, "too many connections", retryAfter: .seconds(10), closes: true)
        var head = HTTPResponse(status: refused.status)
        head.headerFields = refused.headers
        head.headerFields[.contentLength] = "\(refused.text.utf8.count)"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(string: refused.text))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        stopClosing()
        closeSoon(context)
        onRefused(refused, address ?? "")
    }

    /// Closes the connection in time, once the receiver ends: what is cut off is sent again.
    private func endInTime(_ context: ChannelHandlerContext) {
        guard let end, ending == nil else { return }
        ending = context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { context.close(promise: nil) }
    }

    private func stopEnding() {
        ending?.cancel()
        ending = nil
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
