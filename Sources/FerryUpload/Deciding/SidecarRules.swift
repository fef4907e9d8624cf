import FerrySpool

/// What becomes of a segment's sidecar when a request of it ends: no I/O, no clock, no chance of its own.
struct SidecarRules: Sendable {
    /// Whether a request that fails is repeated as it was.
    let repeatsWhole: Bool
    let splitBroken: SplitPolicy
    let backOff: BackOff

    init(_ options: UploadOptions) {
        (repeatsWhole, splitBroken, backOff) = (options.repeatsWhole, options.splitBroken, options.backOff)
    }

    /// A request that ended, as it concerns one of its segments.
    struct Try {
        let outcome: RequestOutcome
        /// The segment's, as far as known.
        let events: Int64?
        /// What is known of earlier tries.
        let previous: RetryState?
        /// When it ended.
        let time: Timestamp
        /// From 0 to 1: what its back-off is drawn by. The same for all segments of a request, so that they stay together.
        var chance = 0.0
    }

    /// What is to be done with a segment that is tried again.
    enum Decision: Equatable {
        /// Its sidecar is to say this.
        ///
        /// - Parameter reason: Why it backs off by itself; `nil`: it waits for the destination.
        case wait(RetryState, because: Verdict.Reason?)
        /// It has failed as often as it may while the destination worked.
        case exhausted(RetryState, Verdict.Reason)
        /// Its sidecar stays as it is.
        case nothing
    }

    /// Backs a segment off that failed, by its own fault or without a verdict.
    ///
    /// - Parameter isProven: Whether the destination took others meanwhile.
    func backOff(_ attempt: Try, isProven: Bool) -> Decision {
        let outcome = attempt.outcome
        guard let reason = outcome.verdict.reason else { return .nothing }
        var state = tried(attempt, reason, scope: .segment)
        // In a circle of receivers it waits, however often it is tried: elsewhere it would pass.
        var isOwnFault = isProven
        if case .circling = outcome.verdict { isOwnFault = false }
        if isOwnFault { state.failures += 1 }
        if state.failures >= backOff.failuresAllowed { return .exhausted(state, reason) }
        let failures = outcome.tries ?? (isOwnFault ? state.failures : state.attempts)
        var wait = backOff.wait(afterFailures: failures, chance: attempt.chance)
        // The destination is left alone for that long: after it, it is the others' turn.
        if !isProven, case .unavailable(_, let retryAfter?) = outcome.verdict {
            wait = min(retryAfter + wait, backOff.longestWait)
        }
        state.nextAttemptAt = attempt.time + (outcome.isLast ? .zero : wait)
        return .wait(state, because: Verdict.Reason(kind: reason.kind, status: reason.status, message: state.lastError.message))
    }

    /// Lets a segment wait for the destination, which failed with it.
    func waitForDestination(_ attempt: Try, until moment: Timestamp?) -> Decision {
        // Where there was no connection, the segment was not tried.
        guard let reason = attempt.outcome.verdict.reason, !Verdict.Reason.isOfNoConnection(reason.kind) else {
            return noted(attempt)
        }
        var state = tried(attempt, reason, scope: .destination)
        state.nextAttemptAt = moment ?? attempt.time
        return .wait(state, because: nil)
    }

    /// Leaves a segment as it is that was not tried to an end, but for what may have arrived.
    func leave(_ attempt: Try) -> Decision {
        attempt.outcome.verdict.isWithdrawn || attempt.outcome.trace.mayHaveArrived ? noted(attempt) : .nothing
    }

    private func noted(_ attempt: Try) -> Decision { departure(attempt).map { .wait($0, because: nil) } ?? .nothing }

    /// Notes how far the body of a request came that is no attempt.
    ///
    /// - Returns: What the sidecar is to say; `nil`: there is nothing to note.
    func departure(_ attempt: Try) -> RetryState? {
        let (outcome, previous, time) = (attempt.outcome, attempt.previous, attempt.time)
        guard let reason = outcome.verdict.reason else { return nil }
        if outcome.trace.isWithinSpool { return nil }
        let departure = outcome.trace.departure
        func fresh() -> RetryState {
            RetryState(
                attempts: 0, failures: 0, firstAttemptAt: time, lastAttemptAt: time, nextAttemptAt: time,
                lastError: .init(scope: .destination, kind: reason.kind, status: reason.status, message: reason.message))
        }
        if departure == .whole, repeatsWhole || outcome.isToBeRepeated(false) {
            // The other side may know it by its key: it was tried with what went out with it, and is repeated with that.
            var state = previous ?? fresh()
            state.noteDeparture(at: time, fresh().lastError, request: outcome.request, events: outcome.requestEvents)
            keepOpen(&state, previous, outcome)
            return state
        }
        // A segment of one event gets no smaller; a request of several does.
        guard attempt.events != 1 || outcome.request != nil else { return nil }
        // What the user or the clock cut off says nothing of the link.
        guard departure == .whole || departure == .part && reason.kind != "stopped" && reason.kind != "changed" else {
            return nil
        }
        let broken = BrokenTries.count(before: previous, departure)
        let isOpen = previous.map { leavesOpen($0, outcome) } ?? false
        let isDecided = !isOpen && previous?.isInterrupted ?? false
        let events = isOpen ? previous?.requestEvents : outcome.requestEvents
        guard isDecided || previous == nil || previous?.broken != broken || previous?.requestEvents != events else { return nil }
        var state = previous ?? fresh()
        // It was made once more as it was.
        if isDecided { (state.lastError, state.request, state.interrupted, state.putOff) = (fresh().lastError, nil, nil, nil) }
        (state.broken, state.requestEvents) = (broken, events)
        return state
    }

    /// Marks what is to be made again as it was, by any sender: an interrupted request of which nothing is known yet, and one whose answer was
    /// lost. Another sender, with other limits or an order of its own, would send the same events under other keys.
    private func keepOpen(_ state: inout RetryState, _ previous: RetryState?, _ outcome: RequestOutcome) {
        if let previous, leavesOpen(previous, outcome) {
            state.staysInterrupted(as: previous, isPutOff: outcome.verdict.putsOff)
        } else if outcome.isToBeRepeated(repeatsWhole) {
            state.interrupted = true
        }
    }

    /// Returns whether the repetition of an interrupted request had no answer that tells whether the first one had arrived: then it is made once
    /// more.
    private func leavesOpen(_ previous: RetryState, _ outcome: RequestOutcome) -> Bool {
        guard previous.isInterrupted, previous.request == outcome.request else { return false }
        if outcome.wasLostAgain { return false }
        switch outcome.verdict {
        // What is cut off by the end of its time would be so each time.
        case .withdrawn(let reason) where reason.kind == "stopped": return repeatsWhole
        case .unavailable where outcome.verdict.tellsOnlyWhenToComeBack, .doubtful, .circling: return repeatsWhole
        // So it may be answered each time for one of its segments, while the others would pass.
        case .unavailable where outcome.verdict.putsOff:
            return repeatsWhole || previous.putOff ?? 0 < Self.mostPutOff
        case .unavailable, .withdrawn, .misconfigured, .moved: return true
        case .delivered, .refused, .tooLarge, .brokenOff: return false
        }
    }

    /// With the wait between them growing, or as long as the destination asks for, that is many minutes.
    private static let mostPutOff = 8

    private func tried(_ attempt: Try, _ reason: Verdict.Reason, scope: RetryState.LastError.Scope) -> RetryState {
        let (outcome, previous) = (attempt.outcome, attempt.previous)
        var message = reason.message
        if outcome.hadNoAnswer, attempt.events != 1 {
            message += BrokenTries.hint(splitBroken, before: previous, outcome.trace.departure)
        }
        var state = RetryState(
            attempts: (previous?.attempts ?? 0) + 1, failures: previous?.failures ?? 0,
            firstAttemptAt: previous?.firstAttemptAt ?? attempt.time, lastAttemptAt: attempt.time, nextAttemptAt: attempt.time,
            lastError: .init(scope: scope, kind: reason.kind, status: reason.status, message: message),
            broken: BrokenTries.count(before: previous, outcome.trace.departure)
        ).with(delivered: previous?.delivered)
        // What is known of requests is for the lane that it will be in.
        if outcome.trace.isWithinSpool {
            guard let previous, !previous.isOfLane else { return state }
            state = previous
            state.lastAttemptAt = attempt.time
            return state
        }
        (state.request, state.requestEvents) = (outcome.request, outcome.requestEvents)
        keepOpen(&state, previous, outcome)
        return state
    }
}
