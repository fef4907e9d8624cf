import FerrySpool
import NIOCore
import NIOHTTP1

/// Sends one request at a time on its connection and collects the answer.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// A request and who waits for its answer.
    struct Job: Sendable {
        var exchange: Exchange
        var answer: EventLoopPromise<Answer>
    }

    private let origin: Origin
    private let throttle: Throttle
    private let strays: StrayGuard
    /// Whether the kernel tells what the other side's has taken. A socket file's two ends are in one kernel.
    private let knowsAcknowledged: Bool
    private var state = ExchangeState()
    private var progress: ProgressWatch
    private var probe: SocketProbe?
    /// What had been acknowledged before a large body; for small ones that is not worth a system call.
    private var acknowledgedBefore: Int64?
    private var isClosing = false
    /// `nil`: the handler is in no channel, or not any more.
    private var context: ChannelHandlerContext?
    private var job: Job?
    private var source: BodySource?
    private var answer = Answer(status: 0, headers: [:], body: [])
    /// Whether the connection stays open after a complete answer, which is handed over when all that came with it was looked at; `nil` before.
    private var completion: Bool?
    /// Between a piece of input and the end of what came with it.
    private var isReading = false
    private var lastWrite = NIODeadline.uptimeNanoseconds(0)
    private var watch: RepeatedTask?
    private var headReceivedAt: NIODeadline?

    /// Made once: it would be put into a box for every request.
    private let announcement = ExchangeHandler.announcement(of: .POST)
    /// The answer to it has no body, whatever its fields say (RFC 9110, section 9.3.2).
    private let headAnnouncement = ExchangeHandler.announcement(of: .HEAD)

    private static func announcement(of method: HTTPMethod) -> NIOAny {
        NIOAny(HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: method, uri: "/")))
    }

    init(idleTimeout: Duration, origin: Origin, throttle: Throttle, strays: StrayGuard) {
        self.strays = strays
        if case .unixSocket = origin.address { knowsAcknowledged = false } else { knowsAcknowledged = true }
        progress = ProgressWatch(timeout: TimeAmount(idleTimeout))
        self.throttle = throttle
        self.origin = origin
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // Cheaper than a timer for every request.
        let interval = progress.interval
        watch = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            let (handler, context) = bound.value
            handler.checkProgress(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        tellAnswer(context)
        watch?.cancel()
        probe = nil
        self.context = nil
    }

    /// Sends a request. On the event loop.
    ///
    /// Called instead of written into the pipeline, which would put it into a box and ask for its type.
    func send(_ job: Job) {
        guard let context, context.channel.isActive, !isClosing else {
            return job.answer.fail(ExchangeError.alreadyClosed)
        }
        if probe == nil { probe = SocketProbe(context) }
        // Something came that no request has asked for, and was not read yet.
        if state.completed > 0, probe?.unread ?? 0 > 0 {
            abort(context)
            return job.answer.fail(ExchangeError.alreadyClosed)
        }
        self.job = job
        strays.expectsAnswer = true
        state.start(answerLimit: job.exchange.isDownload ? TransportOptions.downloadLimit : TransportOptions.answerBodyLimit)
        answer = Answer(status: 0, headers: [:], body: [])
        headReceivedAt = nil
        lastWrite = .now()
        progress.start(at: lastWrite)
        sendHead(job.exchange, context)
    }

    private func sendHead(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        // Only for the response decoder, which must know that a request is under way: see RequestWriter.
        context.write(exchange.isHead ? headAnnouncement : announcement, promise: nil)
        var head = exchange.head
        if case .bytes(var buffer) = exchange.body, throttle.limit == nil, exchange.body.size <= TransportOptions.smallBody {
            acknowledgedBefore = nil
            head.writeBuffer(&buffer)
            return writeAndContinue(.body(.byteBuffer(head)), isLast: true, context)
        }
        // The head leaves in any case, and is paid for.
        _ = throttle.wait(for: ByteCount(Int64(head.readableBytes)))
        context.write(wrapOutboundOut(.body(.byteBuffer(head))), promise: nil)
        acknowledgedBefore = probe?.acknowledged
        source = BodySource(exchange.body, to: origin, throttle: throttle)
        sendMore(context)
    }

    /// Sends the next piece of the body, when its time has come.
    private func sendMore(_ context: ChannelHandlerContext) {
        guard let source else { return }
        let wait = source.wait()
        guard wait > .zero else { return sendPiece(of: source, context) }
        let bound = NIOLoopBound((self, source, context), eventLoop: context.eventLoop)
        // Waiting for its turn is no standstill.
        progress.moved(at: .now() + TimeAmount(wait))
        context.eventLoop.scheduleTask(in: TimeAmount(wait)) {
            let (handler, source, context) = bound.value
            // The server may have answered meanwhile.
            if handler.source === source, !handler.state.headReceived { handler.sendPiece(of: source, context) }
        }
    }

    private func sendPiece(of source: BodySource, _ context: ChannelHandlerContext) {
        do throws(TransportError) {
            let piece = try source.next(context.channel.allocator)
            writeAndContinue(.body(piece), isLast: source.isAtEnd, context)
        } catch {
            perform(state.broke(error), context)
        }
    }

    private func writeAndContinue(_ part: HTTPClientRequestPart, isLast: Bool, _ context: ChannelHandlerContext) {
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.futureResult.whenSuccess {
            let (handler, context) = bound.value
            handler.lastWrite = .now()
            handler.progress.moved(at: handler.lastWrite)
            handler.perform(handler.state.wrote(isLast: isLast), context)
        }
        context.writeAndFlush(wrapOutboundOut(part), promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        progress.moved(at: .now())
        isReading = true
        switch unwrapInboundIn(data) {
        case .head(let head):
            // 100 Continue and its like announce; the answer follows.
            guard head.status.code >= 200 else { return }
            headReceivedAt = .now()
            answer.latency = .nanoseconds((headReceivedAt! - lastWrite).nanoseconds)
            answer.status = Int(head.status.code)
            answer.headers = head.headers
            // An answer's packet acknowledges the request. One that does not was sent before the request had come.
            answer.isToWholeRequest = state.requestSent && (!knowsAcknowledged || probe?.queued ?? 0 == 0)
            answer.departure = state.requestSent ? .whole : .beginning
            state.receivedHead(keepsAlive: head.isKeepAlive && answer.isToWholeRequest)
        case .body(let buffer):
            let room = Int(state.answerLimit.bytes) - answer.body.count
            if room > 0 { answer.body += buffer.readableBytesView.prefix(room) }
            perform(state.receivedBody(buffer.readableBytes), context)
        case .end(let trailers):
            if let trailers { answer.trailers = trailers }
            perform(state.receivedEnd(), context)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        tellAnswer(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        isReading = false
        tellAnswer(context)
        let hint = mayWantTLS ? "; if it speaks TLS, the URL must begin with https://" : ""
        perform(
            state.broke(.closed("the destination closed the connection without an answer\(hint)", isStale: state.completed > 0)),
            context)
        context.fireChannelInactive()
    }

    /// Returns whether nothing was ever answered on a connection over the network, and it is not encrypted.
    private var mayWantTLS: Bool {
        guard state.completed == 0, !origin.isSecure, case .host = origin.address else { return false }
        return true
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if completion != nil {
            if error is HTTPParserError || error is NIOHTTPDecoderError { return refuseSurplus(context) }
            completion = false
            return tellAnswer(context)
        }
        perform(state.broke(TransportError(error, isStale: state.completed > 0)), context)
        if !isClosing { context.close(promise: nil) }
    }

    /// Closes this side: the task was cancelled, or the network changed.
    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if state.isActive { perform(state.broke(.closed("the connection was closed", isStale: state.completed > 0)), context) }
        isClosing = true
        context.close(mode: mode, promise: promise)
    }

    /// Refuses what came with an answer and was not asked for. The first answer of a connection is its request's; behind an earlier one, which of
    /// them is this request's cannot be told.
    private func refuseSurplus(_ context: ChannelHandlerContext) {
        guard state.completed > 1 else {
            completion = false
            return tellAnswer(context)
        }
        completion = nil
        let job = endJob()
        abort(context)
        let failure = TransportError.garbage("the destination sent more answers than it had requests")
        job?.answer.fail(ExchangeError(reason: failure, departure: .whole))
    }

    private func tellAnswer(_ context: ChannelHandlerContext) {
        guard let keepsOpen = completion else { return }
        completion = nil
        let job = endJob()
        if !keepsOpen { context.close(promise: nil) }
        job?.answer.succeed(answer)
    }

    private func checkProgress(_ context: ChannelHandlerContext) {
        guard state.isActive else { return }
        let now = NIODeadline.now()
        let isDownload = job?.exchange.isDownload ?? false
        let isOverdue = headReceivedAt.map { !isDownload && now - $0 > TimeAmount(TransportOptions.answerBodyPatience) } ?? false
        if isOverdue || progress.standsStill(at: now, look: { probe?.standing }) {
            perform(state.timedOut(), context)
        }
    }

    /// Closes the socket at once, and takes back what has not left this machine.
    private func abort(_ context: ChannelHandlerContext) {
        isClosing = true
        probe?.discardUnsent()
        // The connection ends with its last descriptor.
        probe = nil
        context.channel.abort()
    }

    /// Returns how much of the body the other side may have, judged when the request has failed.
    private func departure() -> Departure {
        guard let job, let standing = probe?.standing else {
            return Departure(isHandedOver: state.requestSent, unsent: 0, acknowledged: nil)
        }
        let head = Int64(job.exchange.head.readableBytes)
        var acknowledged: Int64?
        if let before = acknowledgedBefore, let after = standing.acknowledged {
            acknowledged = after - before - head
        } else if state.requestSent {
            acknowledged = job.exchange.body.size.bytes - standing.queued
        }
        return Departure(isHandedOver: state.requestSent, unsent: standing.unsent, acknowledged: acknowledged)
    }

    private func perform(_ action: ExchangeState.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .none: break
        case .sendMore: sendMore(context)
        case .complete(let keepsOpen):
            source = nil
            completion = keepsOpen
            answer.isWhole = state.isAnswerWhole
            if !isReading { tellAnswer(context) }
        case .fail(let failure):
            let departure = departure()
            let job = endJob()
            abort(context)
            job?.answer.fail(ExchangeError(reason: failure, departure: departure))
        }
    }

    private func endJob() -> Job? {
        defer {
            strays.expectsAnswer = false
            job = nil
            source = nil
        }
        return job
    }
}
