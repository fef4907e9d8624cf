import NIOCore

/// One open connection, which takes one request at a time.
struct HTTPConnection: Sendable {
    let channel: any Channel
    /// Takes the requests. Empty when the channel was closed before it was ready.
    let exchanges: NIOLoopBoundBox<ExchangeHandler?>
    /// Whether requests name the whole URL: the connection leads to an HTTP proxy.
    let usesAbsoluteTarget: Bool
    /// Credentials for that proxy.
    let proxyAuthorization: String?

    var isOpen: Bool { channel.isActive }

    /// Sends a request and waits for its answer. Cancelling the task closes the connection.
    func send(_ exchange: Exchange) async throws(ExchangeError) -> Answer {
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        do {
            return try await withTaskCancellationHandler {
                start(ExchangeHandler.Job(exchange: exchange, answer: answer))
                return try await answer.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            var failure = error as? ExchangeError ?? .init(reason: .closed("\(error)", isStale: false), departure: .nothing)
            if Task.isCancelled { failure.reason = .cancelled }
            throw failure
        }
    }

    private func start(_ job: ExchangeHandler.Job) {
        guard channel.eventLoop.inEventLoop else { return channel.eventLoop.execute { start(job) } }
        guard let handler = exchanges.value else { return job.answer.fail(ExchangeError.alreadyClosed) }
        handler.send(job)
    }

    func close() { channel.close(promise: nil) }
}
