import FerrySpool

/// Rejecting.
extension OutcomeRecorder {
    /// Rejects a segment one event of which is too large by itself.
    ///
    /// - Parameter line: The event's, from 1.
    /// - Returns: When it is to be tried again, if it could not be rejected now.
    func rejectTooLarge(_ segment: PreparedSegment, line: Int64, _ verdict: Verdict) throws(FileError) -> Timestamp? {
        var message = "line \(line) is a single event that is too large for the destination (\(verdict.reason?.message ?? "413"))"
        if line > 1 { message += "; what is before it was delivered" }
        return try reject(
            segment.claim, kind: "too-large", status: verdict.reason?.status, message: message, attempts: segment.attempt)
    }

    /// Rejects a claimed segment.
    ///
    /// - Returns: When it is to be tried again, if it could not be rejected now.
    func reject(_ claim: Claim, _ fault: RejectionCause, attempts: Int) throws(FileError) -> Timestamp? {
        try reject(claim, kind: fault.kind, message: fault.message, attempts: attempts, offset: fault.offset)
    }

    func reject(_ segment: PreparedSegment, _ verdict: Verdict, attempts: Int) throws(FileError) -> Timestamp? {
        guard case .refused(let reason, let body) = verdict else { return nil }
        return try reject(
            segment.claim, kind: reason.kind, status: reason.status, message: reason.message + progress(of: segment),
            attempts: attempts, body: body)
    }

    /// Returns a remark on what was delivered of a rejected segment: the rest alone would have to be sent.
    func progress(of segment: PreparedSegment) -> String {
        let lines = segment.delivered(to: destinationID)
        return lines > 0 ? "; its first \(lines) lines were delivered" : ""
    }

    func reject(
        _ claim: Claim, kind: String, status: Int? = nil, message: String, attempts: Int, offset: Int64? = nil,
        body: String? = nil
    ) throws(FileError) -> Timestamp? {
        do throws(FileError) {
            try lease.spool().room.probeRejected(leavesRoom: options.order != .strict)
        } catch {
            // A line in the ledger would say that it is where it is not.
            if committer.noteUnrejectable(error) {
                warn("\(error); what is to be rejected stays where it is, \(claim.name) first")
            }
            if error.isDiskFull {
                giveBackBlock(of: claim)
                return now() + Contention.longestPatience
            }
            let message = "is to be rejected (\(message)), and cannot be: \(error)"
            // It may have arrived whole.
            return try backOff(claim, kind: "rejected", message, attempts: attempts, nil) { _ in nil }
        }
        var reason = RejectionReason(
            at: now(), kind: kind, status: status, message: message, attempts: attempts, offset: offset, body: body)
        reason.delivered = ((try? lease.spool().sidecars.read(of: claim)) ?? nil)?.delivered
        try committer.submit(
            Ending(claim, .rejected(reason), entry(claim, .rejected, status: status, attempts: attempts, detail: message)))
        return nil
    }

    /// Gives back the block of a sidecar. On a full disk a segment that cannot be rejected waits, and the block of a sidecar that says nothing is for
    /// one that can be sent.
    private func giveBackBlock(of claim: Claim) {
        guard let spool = try? lease.spool(), ((try? spool.sidecars.read(of: claim)) ?? nil)?.isOfNothing == true else { return }
        try? spool.sidecars.remove(of: claim.name)
    }

    /// Leaves a segment alone for a while for what is wrong with the spool, not with the segment.
    func backOff(
        _ claim: Claim, kind: String, _ message: String, attempts: Int, _ sidecar: RetryState?, broken: (RetryState?) -> Int?
    ) throws(FileError) -> Timestamp {
        let time = now()
        var generator = SystemRandomNumberGenerator()
        let until = time + options.backOff.wait(afterFailures: max(1, attempts), using: &generator)
        let spool = try lease.spool()
        guard try spool.directory.contains(claim.name) else { return until }
        let previous = sidecar ?? (try? spool.sidecars.read(of: claim)) ?? nil
        do throws(FileError) {
            try spool.sidecars.write(
                RetryState(
                    attempts: max(1, attempts, previous?.attempts ?? 0), failures: previous?.failures ?? 0,
                    firstAttemptAt: previous?.firstAttemptAt ?? time,
                    lastAttemptAt: time, nextAttemptAt: until,
                    lastError: .init(scope: .segment, kind: kind, message: message),
                    broken: broken(previous)
                ).with(delivered: previous?.delivered), of: claim)
        } catch {
            // Where there is no room for the work itself, there may be none for this either. The others can leave, and make room.
            guard error.isOutOfSpace else { throw error }
        }
        return until
    }
}
