import FerrySpool

/// Turns judgements into endings and sidecars.
struct Bookkeeper: Sendable {
    let spool: Spool
    let options: UploadOptions
    let settler: Settler
    let now: @Sendable () -> Timestamp
    let onEvent: @Sendable (UploadEvent) -> Void
    /// As the ledger names it.
    private let destination: String

    init(
        spool: Spool, options: UploadOptions, settler: Settler, now: @escaping @Sendable () -> Timestamp,
        onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) {
        self.spool = spool
        self.options = options
        self.settler = settler
        self.now = now
        self.onEvent = onEvent
        destination = "\(options.destination)"
    }

    /// - Parameter destinationWaitsUntil: When the destination is tried again, for its victims.
    /// - Returns: When the segment is to be tried again, if its sidecar says so now.
    func record(
        _ judgement: PassPlan.Judgement, of segment: PreparedSegment, _ verdict: Verdict, destinationWaitsUntil: Timestamp?
    ) throws(FileError) -> Timestamp? {
        switch judgement {
        case .delivered:
            try settler.submit(ending(segment, .sent(keep: options.keepsSent), .sent, status: verdict.status))
        case .refused: try reject(segment, verdict, attempts: segment.attempt)
        // Takes long: the worker that has the segment does it.
        case .split: break
        case .culprit: return try backOff(segment, verdict, isProven: true)
        case .unjudged: return try backOff(segment, verdict, isProven: false)
        case .victim:
            // Where there was no connection, the segment was not tried.
            guard let reason = verdict.reason, reason.kind != "connect", reason.kind != "proxy" else { return nil }
            let time = now()
            var state = tried(segment, reason, scope: .destination, at: time)
            state.nextAttemptAt = destinationWaitsUntil ?? time
            try spool.writeSidecar(state, of: segment.claim)
            return state.nextAttemptAt
        case .untouched: break
        }
        return nil
    }

    /// Splits a segment that is too large, or completes a split.
    ///
    /// - Returns: When it is to be tried again, if it could not be split now: what is wrong with one segment's file stops no other.
    func split(
        _ claim: Claim, attempts: Int, _ verdict: Verdict?, sidecar: RetryState? = nil
    ) async throws(FileError) -> Timestamp? {
        let now = now
        let result: Result<Split, SplitFailure> = await blocking { [spool, options] in
            do throws(SplitFailure) {
                return .success(try spool.split(claim, at: now(), inflateLimit: options.inflateLimit))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let split):
            let detail = "too large for the destination; its lines are now in \(split.halves.joined(separator: " and "))"
            try settler.submit(
                Ending(
                    split.parent, .split,
                    entry(split.parent, .split, status: verdict?.status, attempts: attempts, detail: detail)))
            if split.parent.name != claim.name, sidecar != nil { try spool.removeSidecar(of: claim.name) }
        case .failure(.singleLine):
            let message = "a single event that is too large for the destination (\(verdict?.reason?.message ?? "413"))"
            try reject(claim, kind: "too-large", status: verdict?.status, message: message, attempts: attempts)
        case .failure(.noRoom):
            let message =
                "too large for the destination, and its ID of \(SegmentID.lengths.upperBound) characters has no room for halves"
            try reject(claim, kind: "too-large", status: verdict?.status, message: message, attempts: attempts)
        case .failure(.damaged(let damage)): try reject(claim, SegmentFault(damage), attempts: attempts)
        case .failure(.file(let error)): return try postpone(claim, error, attempts: attempts, sidecar)
        }
        return nil
    }

    private func postpone(
        _ claim: Claim, _ error: FileError, attempts: Int, _ sidecar: RetryState?
    ) throws(FileError) -> Timestamp {
        onEvent(.warning("\(error); \(claim.name) is too large for the destination and stays whole for now"))
        let time = now()
        var generator = SystemRandomNumberGenerator()
        let until = time + options.backOff.wait(afterFailures: max(1, attempts), using: &generator)
        guard spool.directory.contains(claim.name) else { return until }
        try spool.writeSidecar(
            RetryState(
                attempts: max(1, attempts), failures: sidecar?.failures ?? 0, firstAttemptAt: sidecar?.firstAttemptAt ?? time,
                lastAttemptAt: time, nextAttemptAt: until,
                lastError: .init(scope: .segment, kind: "split", message: "\(error)")), of: claim)
        return until
    }

    func reject(_ claim: Claim, _ fault: SegmentFault, attempts: Int) throws(FileError) {
        try reject(claim, kind: fault.kind, message: fault.message, attempts: attempts, offset: fault.offset)
    }

    private func reject(_ segment: PreparedSegment, _ verdict: Verdict, attempts: Int) throws(FileError) {
        guard case .refused(let reason, let body) = verdict else { return }
        try reject(
            segment.claim, kind: reason.kind, status: reason.status, message: reason.message, attempts: attempts, body: body)
    }

    private func reject(
        _ claim: Claim, kind: String, status: Int? = nil, message: String, attempts: Int, offset: Int64? = nil,
        body: String? = nil
    ) throws(FileError) {
        let reason = RejectionReason(
            at: now(), kind: kind, status: status, message: message, attempts: attempts, offset: offset, body: body)
        try settler.submit(
            Ending(claim, .rejected(reason), entry(claim, .rejected, status: status, attempts: attempts, detail: message)))
    }

    private func backOff(_ segment: PreparedSegment, _ verdict: Verdict, isProven: Bool) throws(FileError) -> Timestamp? {
        guard let reason = verdict.reason else { return nil }
        let time = now()
        var state = tried(segment, reason, scope: .segment, at: time)
        if isProven { state.failures += 1 }
        if state.failures >= options.backOff.failuresAllowed {
            let message = "failed \(state.failures) times while the destination was well; last: \(reason.message)"
            try reject(segment.claim, kind: "exhausted", status: reason.status, message: message, attempts: state.attempts)
            return nil
        }
        var generator = SystemRandomNumberGenerator()
        state.nextAttemptAt =
            time + options.backOff.wait(afterFailures: isProven ? state.failures : state.attempts, using: &generator)
        try spool.writeSidecar(state, of: segment.claim)
        onEvent(.backsOff(segment: segment.claim.name, until: state.nextAttemptAt, reason))
        return state.nextAttemptAt
    }

    private func tried(
        _ segment: PreparedSegment, _ reason: Verdict.Reason, scope: RetryState.LastError.Scope, at time: Timestamp
    ) -> RetryState {
        // Another uploader may have failed with it between the scan and the claim.
        let previous = segment.sidecar ?? (try? spool.sidecar(of: segment.claim.name)) ?? nil
        return RetryState(
            attempts: (previous?.attempts ?? 0) + 1, failures: previous?.failures ?? 0,
            firstAttemptAt: previous?.firstAttemptAt ?? time, lastAttemptAt: time, nextAttemptAt: time,
            lastError: .init(scope: scope, kind: reason.kind, status: reason.status, message: reason.message))
    }

    private func ending(
        _ segment: PreparedSegment, _ disposal: Ending.Disposal, _ outcome: LedgerEntry.Outcome, status: Int?
    ) -> Ending {
        var entry = entry(segment.claim, outcome, status: status, attempts: segment.attempt)
        entry.events = segment.facts.events
        return Ending(segment.claim, disposal, entry, hasSidecar: segment.sidecar != nil)
    }

    private func entry(
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
        case .unwell(let reason, _), .doubtful(let reason), .misconfigured(let reason), .tooLarge(let reason),
            .refused(let reason, _), .moved(_, let reason), .withdrawn(let reason):
            reason
        }
    }

    var status: Int? {
        if case .delivered(let status) = self { return status }
        return reason?.status
    }
}
