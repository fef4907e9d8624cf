/// Why a delivery starts nothing more.
public enum StopReason: Equatable, Sendable {
    case misconfigured(Verdict.Reason)
    case unavailable(Verdict.Reason, retryAfter: Duration?)
    /// Every retry of a request failed: nothing more is sent by this process.
    case off(Verdict.Reason)
    /// Strict order: the head of the line must wait.
    case headWaits
    /// The time limit is over, or would be before another request.
    case timeLimit
    case interrupted
    /// The spool was paused or disabled.
    case paused
    /// The folder or the disk failed.
    case localFailure

    /// What the destination, or the way to it, said.
    public var reason: Verdict.Reason? {
        switch self {
        case .misconfigured(let reason), .unavailable(let reason, _), .off(let reason): reason
        case .headWaits, .timeLimit, .interrupted, .paused, .localFailure: nil
        }
    }
}
