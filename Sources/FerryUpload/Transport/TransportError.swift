/// Why a request had no answer.
enum TransportError: Error, Equatable {
    /// No connection: name not found, refused, timed out.
    case connect(String)
    /// No connection, because this machine has no route: it says nothing of the destination.
    case noRoute(String)
    /// The proxy would not connect.
    case proxy(status: Int?, String)
    /// The other side's certificate or ours is not accepted.
    case tls(String)
    /// Closed or reset before an answer. `isStale`: the connection had been idle, so the server may have closed it just then.
    case closed(String, isStale: Bool)
    /// What came back is no HTTP.
    case garbage(String)
    /// Nothing moved for too long.
    case timeout(String)
    /// The file became shorter while it was sent.
    case fileChanged
    /// The pass was stopped.
    case cancelled
}

extension Verdict {
    init(_ failure: TransportError) {
        switch failure {
        case .connect(let message): self = .unavailable(Reason(kind: "connect", message: message), retryAfter: nil)
        case .noRoute(let message): self = .unavailable(Reason(kind: Reason.noRoute, message: message), retryAfter: nil)
        case .proxy(let status?, let message) where (400..<500).contains(status) && status != 408 && status != 429:
            let hint = status == 407 ? "put name and password into the proxy variable" : "the proxy does not allow it"
            self = .misconfigured(Reason(kind: "proxy", status: status, message: "\(message); \(hint)"))
        case .proxy(let status, let message):
            self = .unavailable(Reason(kind: "proxy", status: status, message: message), retryAfter: nil)
        case .tls(let message): self = .misconfigured(Reason(kind: "tls", message: message))
        case .closed(let message, _): self = .doubtful(Reason(kind: "closed", message: message))
        case .garbage(let message): self = .doubtful(Reason(kind: "garbage", message: message))
        case .timeout(let message): self = .doubtful(Reason(kind: "timeout", message: message))
        case .fileChanged:
            self = .withdrawn(Reason(kind: "changed", message: "the file changed while it was sent"))
        case .cancelled: self = .withdrawn(Reason(kind: "stopped", message: "stopped"))
        }
    }
}
