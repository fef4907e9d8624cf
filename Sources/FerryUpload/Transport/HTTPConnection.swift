import NIOCore

/// One open connection, which takes one request at a time.
struct HTTPConnection: Sendable {
    let channel: any Channel
    /// Whether requests name the whole URL: the connection leads to an HTTP proxy.
    let usesAbsoluteTarget: Bool
    /// Credentials for that proxy.
    let proxyAuthorization: String?

    var isOpen: Bool { channel.isActive }

    /// Sends a request and waits for its answer. Cancelling the task closes the connection.
    func send(_ exchange: Exchange) async throws(ExchangeFailure) -> Answer {
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        // A channel that has just closed has no handler left to take the request: nothing of it was sent.
        let taken = channel.eventLoop.makePromise(of: Void.self)
        taken.futureResult.whenFailure { _ in answer.fail(ExchangeFailure.alreadyClosed) }
        do {
            return try await withTaskCancellationHandler {
                channel.writeAndFlush(ExchangeHandler.Job(exchange: exchange, answer: answer), promise: taken)
                return try await answer.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
        } catch {
            var failure = error as? ExchangeFailure ?? .init(reason: .closed("\(error)", isStale: false), departure: .nothing)
            if Task.isCancelled { failure.reason = .cancelled }
            throw failure
        }
    }

    func close() { channel.close(promise: nil) }
}
