import FerrySpool

/// Splitting.
extension OutcomeRecorder {
    /// Splits a segment that is too large for the link, if it was tried often enough, and, unless the user wants it split all the same, no
    /// try may have arrived whole.
    ///
    /// - Returns: Whether it has ended.
    func splitIfBroken(_ segment: PreparedSegment, _ outcome: RequestOutcome) async throws(FileError) -> Bool {
        guard outcome.hadNoAnswer, segment.facts.events != 1, segment.claim.isUnchanged,
            let reason = outcome.verdict.reason, reason.kind != "stopped", reason.kind != "changed",
            BrokenTries.asksForSplit(options.splitBroken, before: previous(of: segment), outcome.trace.departure)
        else { return false }
        let claim = segment.claim
        switch await divide(claim) {
        case .success(let split):
            try submit(
                split, of: claim, status: nil, attempts: segment.attempt,
                why: outcome.trace.departure == .part ? "its body broke off on its way twice" : "it had no answer twice",
                hasSidecar: true)
        // It gets no smaller.
        case .failure(.singleLine): return false
        case .failure(.damaged(let damage)):
            return try reject(claim, RejectionCause(damage), attempts: segment.attempt) == nil
        // A file with a name from another tool may have its proper name by now: the next scan finds it.
        case .failure(.noRoom): return try !lease.spool().directory.contains(claim.name)
        case .failure(.file(let error)):
            warn("\(claim.name) is too large for this link, and cannot be split now: \(error)")
            return try !lease.spool().directory.contains(claim.name)
        }
        return true
    }

    private func divide(_ claim: Claim) async -> Result<Split, SplitError> {
        await blocking { [lease, options, now, loan] in
            func attempt() -> Result<Split, SplitError> {
                do throws(SplitError) { return .success(try Self.split(claim, lease, at: now(), options)) } catch {
                    return .failure(error)
                }
            }
            func isRoomless(_ result: Result<Split, SplitError>) -> Bool {
                if case .failure(.file(let error)) = result { error.isDiskFull } else { false }
            }
            var result = attempt()
            guard isRoomless(result), let spool = try? lease.spool() else { return result }
            // On a full disk delivered segments make room, and then the reserve. The halves are about as large as what is split.
            if options.sentGivesWay, let freed = spool.sent.free(atLeast: claim.status.size + .kibibytes(16)), freed.segments > 0
            {
                result = attempt()
            }
            guard isRoomless(result), loan.begin(claim.name, isPending: { (try? spool.directory.contains($0)) ?? true }) else {
                return result
            }
            defer { loan.end((try? result.get().halves) ?? []) }
            do throws(FileError) {
                result = try spool.room.lendingMostOfReserve { () throws(FileError) in
                    let result = attempt()
                    if case .failure(.file(let error)) = result { throw error }
                    return result
                }
            } catch {
                result = .failure(.file(error))
            }
            return result
        }
    }

    private func submit(
        _ split: Split, of claim: Claim, status: Int?, attempts: Int, why: String, hasSidecar: Bool
    ) throws(FileError) {
        let detail = "\(why); its lines are now in \(split.halves.joined(separator: " and "))"
        try committer.submit(
            Ending(
                split.parent, .split, entry(split.parent, .split, status: status, attempts: attempts, detail: detail)))
        if split.parent.name != claim.name, hasSidecar { try lease.spool().sidecars.remove(of: claim.name) }
    }

    /// Splits a segment that is too large, or completes a split.
    ///
    /// Also when an earlier try may have arrived whole: the answer 413 is about this request alone, and Ferry's receiver looks at the key
    /// before the size, so one that has the segment does not give it.
    ///
    /// - Returns: When it is to be tried again, if it could not be split or rejected now: what is wrong with one segment's file stops no other.
    func split(
        _ claim: Claim, attempts: Int, _ verdict: Verdict?, sidecar: RetryState? = nil
    ) async throws(FileError) -> Timestamp? {
        switch await divide(claim) {
        case .success(let split):
            try submit(
                split, of: claim, status: verdict?.status, attempts: attempts, why: "too large for the destination",
                hasSidecar: sidecar != nil)
        case .failure(.singleLine):
            let message = "a single event that is too large for the destination (\(verdict?.reason?.message ?? "413"))"
            return try reject(claim, kind: "too-large", status: verdict?.status, message: message, attempts: attempts)
        case .failure(.noRoom):
            let message =
                "too large for the destination, and its ID of \(SegmentID.lengths.upperBound) characters has no room for halves"
            return try reject(claim, kind: "too-large", status: verdict?.status, message: message, attempts: attempts)
        case .failure(.damaged(let damage)): return try reject(claim, RejectionCause(damage), attempts: attempts)
        case .failure(.file(let error)): return try postpone(claim, error, attempts: attempts, sidecar)
        }
        return nil
    }

    /// How long a segment waits that needs room on a full disk: what is sent meanwhile may make it.
    static let roomPatience = Duration.seconds(15)

    private func postpone(
        _ claim: Claim, _ error: FileError, attempts: Int, _ sidecar: RetryState?
    ) throws(FileError) -> Timestamp {
        warn("\(error); \(claim.name) is too large for the destination and stays whole for now")
        // A note of it would take the room that others need.
        if error.isDiskFull { return now() + Self.roomPatience }
        return try backOff(claim, kind: "split", "\(error)", attempts: attempts, sidecar) {
            BrokenTries.count(before: $0, .nothing)
        }
    }

    private static func split(
        _ claim: Claim, _ lease: SpoolLease, at now: Timestamp, _ options: UploadOptions
    ) throws(SplitError) -> Split {
        let spool: Spool
        do throws(FileError) { spool = try lease.spool() } catch { throw .file(error) }
        return try spool.splitting.split(claim, at: now, inflateLimit: options.inflateLimit)
    }
}
