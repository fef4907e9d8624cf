import FerrySpool
import NIOCore
import NIOHTTP1

/// Sends one request at a time on its connection and collects the answer.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Job
    typealias OutboundOut = HTTPClientRequestPart

    /// A request and who waits for its answer.
    struct Job: Sendable {
        var exchange: Exchange
        var answer: EventLoopPromise<Answer>
    }

    private let idleTimeout: TimeAmount
    private let isSecure: Bool
    private let throttle: Throttle
    private var state = ExchangeState()
    private var job: Job?
    private var source: BodySource?
    private var answer = Answer(status: 0, headers: [], body: [])
    private var lastProgress = NIODeadline.uptimeNanoseconds(0)
    private var lastWrite = NIODeadline.uptimeNanoseconds(0)
    private var watch: RepeatedTask?
    private var headReceivedAt: NIODeadline?

    private static let announcement = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")

    init(idleTimeout: Duration, isSecure: Bool, throttle: Throttle) {
        self.idleTimeout = TimeAmount(idleTimeout)
        self.throttle = throttle
        self.isSecure = isSecure
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // Often enough to notice a quarter of the timeout late at most; cheaper than a timer for every request.
        let interval = TimeAmount.nanoseconds(max(idleTimeout.nanoseconds / 4, 1_000_000))
        watch = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let (handler, context) = bound.value
            handler.checkProgress(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { watch?.cancel() }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let job = unwrapOutboundIn(data)
        promise?.succeed()
        guard context.channel.isActive else {
            job.answer.fail(TransportFailure.closed("the connection was closed", isStale: true))
            return
        }
        self.job = job
        state.start()
        answer = Answer(status: 0, headers: [], body: [])
        headReceivedAt = nil
        lastProgress = .now()
        lastWrite = lastProgress
        sendHead(job.exchange, context)
    }

    private func sendHead(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        // Only for the response decoder, which must know that a request is under way: see RequestWriter.
        context.write(wrapOutboundOut(.head(Self.announcement)), promise: nil)
        var head = exchange.head
        if case .bytes(var buffer) = exchange.body, throttle.limit == nil {
            head.writeBuffer(&buffer)
            context.write(wrapOutboundOut(.body(.byteBuffer(head))), promise: nil)
            return finishRequest(context)
        }
        // The head leaves in any case, and is paid for.
        _ = throttle.wait(for: ByteCount(Int64(head.readableBytes)))
        context.write(wrapOutboundOut(.body(.byteBuffer(head))), promise: nil)
        source = BodySource(exchange.body, isSecure: isSecure, throttle: throttle)
        sendMore(context)
    }

    /// Sends the next piece of the body, when its time has come.
    private func sendMore(_ context: ChannelHandlerContext) {
        guard let source else { return }
        let wait = source.wait()
        guard wait > .zero else { return sendPiece(of: source, context) }
        let bound = NIOLoopBound((self, source, context), eventLoop: context.eventLoop)
        // Waiting for its turn is no standstill.
        lastProgress = .now() + TimeAmount(wait)
        context.eventLoop.scheduleTask(in: TimeAmount(wait)) {
            let (handler, source, context) = bound.value
            // The server may have answered meanwhile.
            if handler.source === source, !handler.state.headReceived { handler.sendPiece(of: source, context) }
        }
    }

    private func sendPiece(of source: BodySource, _ context: ChannelHandlerContext) {
        do throws(TransportFailure) {
            let piece = try source.next(context.channel.allocator)
            if source.isAtEnd {
                context.write(wrapOutboundOut(.body(piece)), promise: nil)
                finishRequest(context)
            } else {
                writeAndContinue(.body(piece), isLast: false, context)
            }
        } catch {
            perform(state.broke(error), context)
            context.close(promise: nil)
        }
    }

    private func finishRequest(_ context: ChannelHandlerContext) {
        writeAndContinue(.end(nil), isLast: true, context)
    }

    private func writeAndContinue(_ part: HTTPClientRequestPart, isLast: Bool, _ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.futureResult.whenSuccess {
            let (handler, context) = bound.value
            handler.lastProgress = .now()
            handler.lastWrite = handler.lastProgress
            handler.perform(handler.state.wrote(isLast: isLast), context)
        }
        context.writeAndFlush(wrapOutboundOut(part), promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastProgress = .now()
        switch unwrapInboundIn(data) {
        case .head(let head):
            // 100 Continue and its like announce; the answer follows.
            guard head.status.code >= 200 else { return }
            headReceivedAt = .now()
            answer.latency = .nanoseconds((headReceivedAt! - lastWrite).nanoseconds)
            answer.status = Int(head.status.code)
            answer.headers = head.headers.map { ($0.name, $0.value) }
            state.receivedHead(keepsAlive: head.isKeepAlive)
        case .body(let buffer):
            let room = Int(TransportOptions.answerBodyKept.bytes) - answer.body.count
            if room > 0 { answer.body += buffer.readableBytesView.prefix(room) }
            perform(state.receivedBody(buffer.readableBytes), context)
        case .end: perform(state.receivedEnd(), context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        perform(
            state.broke(.closed("the destination closed the connection without an answer", isStale: state.completed > 0)), context
        )
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        perform(state.broke(TransportFailure(error, isStale: state.completed > 0)), context)
        context.close(promise: nil)
    }

    private func checkProgress(_ context: ChannelHandlerContext) {
        guard state.isActive else { return }
        let now = NIODeadline.now()
        let isOverdue = headReceivedAt.map { now - $0 > TimeAmount(TransportOptions.answerBodyPatience) } ?? false
        if isOverdue || now - lastProgress >= idleTimeout {
            perform(state.timedOut(), context)
            context.close(promise: nil)
        }
    }

    private func perform(_ action: ExchangeState.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .none: break
        case .sendMore: sendMore(context)
        case .complete(let keepsOpen):
            let job = endJob()
            if !keepsOpen { context.close(promise: nil) }
            job?.answer.succeed(answer)
        case .fail(let failure): endJob()?.answer.fail(failure)
        }
    }

    private func endJob() -> Job? {
        defer {
            job = nil
            source = nil
        }
        return job
    }
}
