import FerrySpool

/// Records what became of segments: hands endings to the ledger's committer, and writes sidecars.
struct OutcomeRecorder: Sendable {
    let lease: SpoolLease
    let options: UploadOptions
    let committer: LedgerCommitter
    let now: @Sendable () -> Timestamp
    let rules: SidecarRules
    let loan = SplitLoan()
    /// Called by a worker, which holds no lock.
    let warn: @Sendable (String) -> Void
    /// As the ledger names it.
    private let destination: String
    /// As its state file is named.
    let destinationID: String

    init(
        lease: SpoolLease, options: UploadOptions, committer: LedgerCommitter, now: @escaping @Sendable () -> Timestamp,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.lease = lease
        self.options = options
        self.committer = committer
        self.now = now
        self.warn = warn
        rules = SidecarRules(options)
        destination = "\(options.destination)"
        destinationID = DestinationID.id(of: destination)
    }

    /// Records a judged request.
    ///
    /// - Returns: What is left of each of its segments, and what happened.
    func record(_ request: JudgedRequest, _ segments: [PreparedSegment]) -> (aftermaths: [Aftermath], events: [UploadEvent]) {
        var events: [UploadEvent] = []
        // A random number is a call of the kernel, and what has ended needs none.
        let (time, chance) = request.mayBackOff ? (now(), Double.random(in: 0...1)) : (.distantPast, 0)
        let aftermaths = segments.enumerated().map { index, segment -> Aftermath in
            let hasSidecar = segment.sidecar != nil
            if request.isOfContent, !segment.claim.isUnchanged {
                events.append(.warning("\(segment.claim.name) was changed while it was sent; it stays pending"))
                return .changed(hasSidecar: hasSidecar)
            }
            var outcome = request.outcome
            outcome.trace.isDuplicate = outcome.trace.duplicates.contains(index)
            let attempt = { previous in
                SidecarRules.Try(
                    outcome: outcome, events: segment.facts.events, previous: previous, time: time, chance: chance)
            }
            do throws(FileError) {
                return try record(request, outcome, segment, attempt, &events) ?? .asBefore(hasSidecar: hasSidecar)
            } catch {
                return .failed(error)
            }
        }
        return (aftermaths, events)
    }

    /// Records what became of a segment.
    ///
    /// - Returns: `nil`: the segment is as it was before.
    private func record(
        _ request: JudgedRequest, _ outcome: RequestOutcome, _ segment: PreparedSegment,
        _ attempt: (RetryState?) -> SidecarRules.Try, _ events: inout [UploadEvent]
    ) throws(FileError) -> Aftermath? {
        let verdict = outcome.verdict
        switch request.judgement {
        case .delivered:
            try submitSent(segment, outcome)
            return .ended
        case .refused: return try reject(segment, verdict, attempts: segment.attempt).map { .waits(until: $0) } ?? .ended
        // Takes long: the worker that has the segment did it.
        case .split: return .ended
        case .segmentAtFault:
            return try carryOut(rules.backOff(attempt(previous(of: segment)), isProven: true), segment, &events)
        case .undetermined:
            return try carryOut(rules.backOff(attempt(previous(of: segment)), isProven: false), segment, &events)
        case .destinationAtFault:
            let until = request.destinationWaitsUntil
            return try carryOut(rules.waitForDestination(attempt(previous(of: segment)), until: until), segment, &events)
        case .untouched: return try carryOut(rules.leave(attempt(previous(of: segment))), segment, &events)
        }
    }

    private func carryOut(
        _ decision: SidecarRules.Decision, _ segment: PreparedSegment, _ events: inout [UploadEvent]
    ) throws(FileError) -> Aftermath? {
        switch decision {
        case .nothing: return nil
        case .wait(let state, let reason):
            try note(state, of: segment)
            if let reason { events.append(.backsOff(segment: segment.claim.name, until: state.nextAttemptAt, reason)) }
            return .waits(until: state.nextAttemptAt)
        case .exhausted(let state, let reason):
            let message =
                "failed \(state.failures) times while the destination was well; last: \(reason.message)\(progress(of: segment))"
            return try reject(
                segment.claim, kind: "exhausted", status: reason.status, message: message, attempts: state.attempts
            ).map { .waits(until: $0) } ?? .ended
        }
    }

    private func submitSent(_ segment: PreparedSegment, _ outcome: RequestOutcome) throws(FileError) {
        var entry = entry(
            segment.claim, options.destination.outcome, status: outcome.verdict.status, attempts: segment.attempt,
            detail: outcome.trace.isDuplicate ? LedgerEntry.duplicate : segment.remark ?? outcome.trace.remark)
        entry.events = segment.facts.events
        entry.receiver = outcome.trace.receiver
        try committer.submit(Ending(segment.claim, .sent(keep: options.keepsSent), entry, hasSidecar: segment.sidecar != nil))
    }

    /// Notes how far the body of a request came that is no attempt.
    ///
    /// - Returns: The sidecar, if there is something to note.
    func noteDeparture(of segment: PreparedSegment, _ outcome: RequestOutcome) throws(FileError) -> RetryState? {
        let attempt = SidecarRules.Try(
            outcome: outcome, events: segment.facts.events, previous: previous(of: segment), time: now())
        guard let state = rules.departure(attempt) else { return nil }
        try note(state, of: segment)
        return state
    }

    /// Notes how far a segment is delivered that goes out in parts: a crash, or a failure of the next part, repeats that alone.
    ///
    /// - Parameter lines: How many, from the first one on.
    /// - Returns: The sidecar.
    func noteDelivery(of segment: PreparedSegment, lines: Int64) throws(FileError) -> RetryState {
        let time = now()
        var state = previous(of: segment) ?? .inParts(at: time)
        let content = try segment.claim.contentMark()
        state.noteDelivery(
            .init(lines: lines, destination: destinationID, content: content, remark: segment.remark), at: time)
        let spool = try lease.spool()
        // What the other side has is not to be sent again: on a full disk the reserve is for that, too. A segment that has not begun waits until
        // others that go out in parts have ended, and given their sidecars' room back.
        try spool.sidecars.write(state, of: segment.claim, with: .blocks)
        segment.claim.keep(nil)
        return state
    }

    /// Writes down what is known of a segment's tries. On a full disk it may be known to this process alone: that ends no pass, which may make
    /// room.
    private func note(_ state: RetryState, of segment: PreparedSegment) throws(FileError) {
        // How many events it carried decides the key of a part.
        let tellsRequest =
            state.isInterrupted || state.requestEvents != nil || options.repeatsWhole && state.request != nil
        do throws(FileError) {
            try lease.spool().sidecars.write(state, of: segment.claim, with: tellsRequest ? .reserve : .reserveButForSplits)
        } catch {
            guard error.isDiskFull else { throw error }
        }
    }

    /// Returns what is known of earlier tries. Another uploader may have failed with it between the scan and the claim.
    func previous(of segment: PreparedSegment) -> RetryState? {
        (try? lease.spool().sidecars.read(of: segment.claim)) ?? segment.sidecar
    }

    func entry(
        _ claim: Claim, _ outcome: LedgerEntry.Outcome, status: Int? = nil, attempts: Int, detail: String? = nil
    ) -> LedgerEntry {
        LedgerEntry(
            at: now(), segment: claim.name, outcome: outcome, bytes: claim.status.size, status: status, attempts: attempts,
            destination: destination, detail: detail)
    }
}

extension Verdict {
    /// Why, unless it was delivered.
    var reason: Reason? {
        switch self {
        case .delivered: nil
        case .unavailable(let reason, _), .doubtful(let reason), .circling(let reason), .misconfigured(let reason),
            .tooLarge(let reason), .brokenOff(let reason), .refused(let reason, _), .moved(_, let reason), .withdrawn(let reason):
            reason
        }
    }

    var status: Int? {
        if case .delivered(let status) = self { return status }
        return reason?.status
    }
}
