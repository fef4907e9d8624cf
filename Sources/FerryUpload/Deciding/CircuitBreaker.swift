import FerrySpool

/// What is known of the destination across processes: whether it works, and when it is due again after a failure.
struct CircuitBreaker: Sendable {
    /// Names the destination in files.
    let id: String
    /// What its file shows of it, without secrets.
    private let destination: String
    private let backOff: BackOff
    /// The last failure; `nil` when the destination works, or was never tried.
    private(set) var state: RetryState?
    /// Whether this process has seen the destination work since it last failed.
    private(set) var isProvenWell = false
    /// What was noted before this moment says nothing: the network has changed since, or a person asked for a try now.
    private var forgetsBefore: Timestamp?

    /// - Parameters:
    ///   - state: What a spool's file says.
    ///   - start: When this process began to ignore older waits; `nil` when it obeys them.
    init(_ options: UploadOptions, state: RetryState? = nil, ignoringWaitsBefore start: Timestamp? = nil) {
        destination = "\(options.destination)"
        id = DestinationID.id(of: destination)
        backOff = options.backOff
        self.state = state
        forgetsBefore = start
    }

    /// Returns whether a wait was noted before what is known now.
    private func isForgotten(_ other: RetryState) -> Bool { forgetsBefore.map { other.lastAttemptAt < $0 } ?? false }

    /// Takes over what another spool's file says. What this process saw by itself outweighs it; of several files the latest counts, unless it
    /// is from a time that has not come. Returns whether anything changed.
    mutating func remember(_ other: RetryState, now: Timestamp) -> Bool {
        guard !isProvenWell, other.lastAttemptAt <= now else { return false }
        if isForgotten(other) { return false }
        if let state, other.lastAttemptAt <= state.lastAttemptAt { return false }
        state = other
        return true
    }

    /// `Retry-After: 0` must not become a loop without a pause.
    private static let leastWait = Duration.seconds(1)

    /// Whether the destination failed last time.
    var isRecovering: Bool { state != nil }

    /// Whether the head of the line may be to blame: the destination said itself when it was to be tried again, or took nothing in several
    /// passes that reached it.
    var sparesHead: Bool {
        guard let state else { return false }
        return state.retryAfter ?? false || state.failures >= Self.failuresOfHead && wasReached
    }

    private static let failuresOfHead = 3

    /// Whether it was reached since it took anything last, though it may not be there any more.
    private var wasReached: Bool {
        guard let state else { return false }
        return state.reached ?? false || !Verdict.Reason.isOfNoConnection(state.lastError.kind)
    }

    /// Returns when the destination is due again, `nil` when it is due now.
    func waitsUntil(now: Timestamp) -> Timestamp? { state?.wait(at: now, longestWait: backOff.longestWait) }

    /// Notes that the destination answered as it should: every wait for it is void. Returns whether anything changed.
    mutating func provedWell() -> Bool {
        isProvenWell = true
        defer { state = nil }
        return state != nil
    }

    /// Forgets all, after the network changed or a person asked for everything. Returns whether anything changed.
    mutating func forget(at now: Timestamp) -> Bool {
        isProvenWell = false
        forgetsBefore = now
        defer { state = nil }
        return state != nil
    }

    /// Notes why a pass stopped. A misconfigured destination is due at once, because a person mends it. Returns whether anything is to be saved.
    mutating func failed(
        _ stop: StopReason, now: Timestamp, using generator: inout some RandomNumberGenerator
    ) -> Bool {
        let reason: Verdict.Reason
        var wait = Duration.zero
        var saidWhen = false
        var failures = state?.failures ?? 0
        switch stop {
        case .unavailable(let why, let retryAfter):
            reason = why
            saidWhen = retryAfter != nil
            // A machine without a route tells nothing of the destination: its wait does not grow. A machine that is on the network for an hour a day
            // would spend that hour waiting.
            let isNoRoute = why.kind == Verdict.Reason.noRoute
            if !isNoRoute { failures += 1 }
            wait =
                retryAfter.map { max($0, Self.leastWait) }
                ?? backOff.wait(afterFailures: isNoRoute ? 1 : failures, using: &generator)
        case .misconfigured(let why): reason = why
        case .off, .headWaits, .timeLimit, .interrupted, .paused, .localFailure: return false
        }
        isProvenWell = false
        let wasReached = wasReached
        state = RetryState(
            attempts: (state?.attempts ?? 0) + 1, failures: failures, firstAttemptAt: state?.firstAttemptAt ?? now,
            lastAttemptAt: now, nextAttemptAt: now + wait,
            lastError: .init(scope: .destination, kind: reason.kind, status: reason.status, message: reason.message))
        state?.destination = destination
        if saidWhen { state?.retryAfter = true }
        if wasReached || !Verdict.Reason.isOfNoConnection(reason.kind) { state?.reached = true }
        return true
    }

    /// Takes over the wait of another process whose answer had `Retry-After`: this process's own back-off does not end before it.
    mutating func yield(to other: RetryState) {
        if isForgotten(other) { return }
        guard let state, state.retryAfter != true, other.retryAfter == true, other.nextAttemptAt > state.nextAttemptAt else {
            return
        }
        self.state = other
    }

    /// Notes an answer with `Retry-After` that came while the pass was ending: of several the longest wait counts. Returns whether anything changed.
    mutating func wasTold(_ reason: Verdict.Reason, toWait retryAfter: Duration, now: Timestamp) -> Bool {
        let until = now + max(retryAfter, Self.leastWait)
        if let state, !isForgotten(state), state.nextAttemptAt >= until { return false }
        isProvenWell = false
        var told =
            state
            ?? RetryState(
                attempts: 1, failures: 1, firstAttemptAt: now, lastAttemptAt: now, nextAttemptAt: until,
                lastError: .init(scope: .destination, kind: reason.kind, status: reason.status, message: reason.message))
        (told.lastAttemptAt, told.nextAttemptAt, told.retryAfter) = (now, until, true)
        told.destination = destination
        told.lastError = .init(scope: .destination, kind: reason.kind, status: reason.status, message: reason.message)
        state = told
        return true
    }
}
