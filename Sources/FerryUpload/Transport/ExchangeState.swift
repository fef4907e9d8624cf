import FerrySpool

/// Where a connection is in its request and answer: what to do next, without a socket.
///
/// Request and answer overlap: a server may answer, and close, before it has taken the whole body.
struct ExchangeState {
    enum Action: Equatable {
        case none
        /// Write the next piece of the body.
        case sendMore
        /// The answer is complete. `keepsOpen`: the connection can take the next request.
        case complete(keepsOpen: Bool)
        case fail(TransportError)
    }

    private(set) var isActive = false
    /// Whether the kernel has taken the request's last byte.
    private(set) var requestSent = false
    private(set) var headReceived = false
    /// Whether the answer came to its end.
    private(set) var isAnswerWhole = false
    private var answerKeepsAlive = false
    private var bodyReceived: Int64 = 0
    /// The bytes of an answer that are kept; a longer one is cut off.
    private(set) var answerLimit = TransportOptions.answerBodyLimit
    /// Requests that were answered on this connection.
    private(set) var completed = 0

    mutating func start(answerLimit: ByteCount = TransportOptions.answerBodyLimit) {
        self.answerLimit = answerLimit
        isActive = true
        requestSent = false
        headReceived = false
        isAnswerWhole = false
        bodyReceived = 0
    }

    /// Notes that a piece of the request went out.
    mutating func wrote(isLast: Bool) -> Action {
        guard isActive, !headReceived else { return .none }
        requestSent = isLast
        return isLast ? .none : .sendMore
    }

    /// Notes the final answer's status line and headers. An early one stops the sending: what follows would be thrown away.
    mutating func receivedHead(keepsAlive: Bool) {
        headReceived = true
        answerKeepsAlive = keepsAlive
    }

    mutating func receivedBody(_ count: Int) -> Action {
        guard isActive else { return .none }
        bodyReceived += Int64(count)
        return bodyReceived > answerLimit.bytes ? end(keepsOpen: false) : .none
    }

    mutating func receivedEnd() -> Action {
        guard isActive, headReceived else { return .none }
        isAnswerWhole = true
        return end(keepsOpen: answerKeepsAlive && requestSent)
    }

    /// Notes that the connection is gone, or that what came is no HTTP. An answer whose head is known counts all the same.
    mutating func broke(_ failure: TransportError) -> Action {
        guard isActive else { return .none }
        if headReceived { return end(keepsOpen: false) }
        isActive = false
        return .fail(failure)
    }

    /// Notes that nothing moved for too long.
    mutating func timedOut() -> Action {
        broke(.timeout(requestSent ? "no answer in time" : "the destination stopped reading"))
    }

    private mutating func end(keepsOpen: Bool) -> Action {
        isActive = false
        completed += 1
        return .complete(keepsOpen: keepsOpen)
    }
}
