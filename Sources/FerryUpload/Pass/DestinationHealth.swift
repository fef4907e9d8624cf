import FerrySpool

/// What is known of the destination's health across processes: the file behind the circuit breaker.
struct DestinationHealth: Sendable {
    private let spool: Spool
    private let id: String
    private let backOff: BackOff
    private(set) var state: RetryState?

    init(spool: Spool, options: UploadOptions, warn: (UnreadableState) -> Void) throws(FileError) {
        self.spool = spool
        id = DestinationName.id(of: "\(options.destination)")
        backOff = options.backOff
        state = try spool.destinationState(id, warn: warn)
    }

    /// The destination failed last time.
    var isRecovering: Bool { state != nil }

    /// When the destination is due again, `nil` when it is due now.
    func waitsUntil(now: Timestamp) -> Timestamp? { state?.wait(at: now, longestWait: backOff.longestWait) }

    /// Something was delivered: every wait for the destination is void.
    mutating func succeeded() throws(FileError) {
        guard state != nil else { return }
        state = nil
        try spool.setDestinationState(nil, id)
    }

    /// It is unwell, or misconfigured: then it is due at once, because a person mends it.
    mutating func failed(_ stop: PassPlan.StopReason, now: Timestamp) throws(FileError) {
        let reason: Verdict.Reason
        var wait = Duration.zero
        var failures = state?.failures ?? 0
        switch stop {
        case .unwell(let why, let retryAfter):
            reason = why
            failures += 1
            var generator = SystemRandomNumberGenerator()
            wait = retryAfter ?? backOff.wait(afterFailures: failures, using: &generator)
        case .misconfigured(let why): reason = why
        case .headWaits, .deadline, .interrupted, .localFailure: return
        }
        let new = RetryState(
            attempts: (state?.attempts ?? 0) + 1, failures: failures, firstAttemptAt: state?.firstAttemptAt ?? now,
            lastAttemptAt: now, nextAttemptAt: now + wait,
            lastError: .init(scope: .destination, kind: reason.kind, status: reason.status, message: reason.message))
        state = new
        try spool.setDestinationState(new, id)
    }
}
