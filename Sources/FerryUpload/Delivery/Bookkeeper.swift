import FerrySpool

/// Turns judgements into endings and sidecars.
struct Bookkeeper: Sendable {
    let lease: SpoolLease
    let options: UploadOptions
    let settler: Settler
    let now: @Sendable () -> Timestamp
    private let loan = SplitLoan()
    /// Called by a worker, which holds no lock.
    private let warn: @Sendable (String) -> Void
    /// As the ledger names it.
    private let destination: String
    /// As its state file is named.
    let destinationID: String

    init(
        lease: SpoolLease, options: UploadOptions, settler: Settler, now: @escaping @Sendable () -> Timestamp,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.lease = lease
        self.options = options
        self.settler = settler
        self.now = now
        self.warn = warn
        destination = "\(options.destination)"
        destinationID = DestinationName.id(of: destination)
    }

    /// What is left of a segment after its request.
    enum Aftermath: Equatable, Sendable {
        /// Its ending is on its way into the books.
        case ended
        /// Its sidecar says until when it waits.
        case waits(until: Timestamp)
        /// It is as it was before.
        case asBefore
    }

    /// - Parameters:
    ///   - destinationWaitsUntil: When the destination is tried again, for its victims.
    ///   - events: What is to be told is added here: the caller may hold a lock.
    func record(
        _ judgement: PassPlan.Judgement, of segment: PreparedSegment, _ outcome: Courier.Outcome,
        destinationWaitsUntil: Timestamp?, _ events: inout [UploadEvent]
    ) throws(FileError) -> Aftermath {
        let verdict = outcome.verdict
        switch judgement {
        case .delivered:
            let detail = outcome.trace.isDuplicate ? LedgerEntry.duplicate : nil
            var ending = ending(segment, .sent(keep: options.keepsSent), .sent, status: verdict.status, detail: detail)
            ending.entry.receiver = outcome.trace.receiver
            try settler.submit(ending)
            return .ended
        case .refused: return try reject(segment, verdict, attempts: segment.attempt).map { .waits(until: $0) } ?? .ended
        // Takes long: the worker that has the segment does it.
        case .split: return .ended
        case .culprit: return try backOff(segment, outcome, isProven: true, &events)
        case .unjudged: return try backOff(segment, outcome, isProven: false, &events)
        case .victim:
            // Where there was no connection, the segment was not tried.
            guard let reason = verdict.reason, !Verdict.Reason.isOfNoConnection(reason.kind) else {
                return try aftermath(ofDeparture: outcome, of: segment)
            }
            let time = outcome.end?.time ?? now()
            var state = tried(segment, outcome, reason, scope: .destination, at: time)
            state.nextAttemptAt = destinationWaitsUntil ?? time
            try note(state, of: segment)
            return .waits(until: state.nextAttemptAt)
        case .untouched:
            guard verdict.isWithdrawn || outcome.trace.mayHaveArrived else { return .asBefore }
            return try aftermath(ofDeparture: outcome, of: segment)
        }
    }

    private func aftermath(
        ofDeparture outcome: Courier.Outcome, of segment: PreparedSegment
    ) throws(FileError) -> Aftermath {
        try noteDeparture(of: segment, outcome).map { .waits(until: $0.nextAttemptAt) } ?? .asBefore
    }

    /// Notes how far the body of a request came that is no attempt.
    ///
    /// - Returns: The sidecar, if there is something to note.
    func noteDeparture(of segment: PreparedSegment, _ outcome: Courier.Outcome) throws(FileError) -> RetryState? {
        guard let reason = outcome.verdict.reason else { return nil }
        let departure = outcome.trace.departure
        let time = outcome.end?.time ?? now()
        let previous = previous(of: segment)
        func fresh() -> RetryState {
            RetryState(
                attempts: 0, failures: 0, firstAttemptAt: time, lastAttemptAt: time, nextAttemptAt: time,
                lastError: .init(scope: .destination, kind: reason.kind, status: reason.status, message: reason.message))
        }
        if departure == .whole, options.repeatsWhole || outcome.isToBeRepeated(false) {
            // The other side may know it by its key: it was tried with what went out with it, and is repeated with that.
            var state = previous ?? fresh()
            state.noteDeparture(at: time, fresh().lastError, request: outcome.request, events: outcome.requestEvents)
            keepOpen(&state, previous, outcome)
            try note(state, of: segment)
            return state
        }
        // A segment of one event gets no smaller; a request of several does.
        guard segment.facts.events != 1 || outcome.request != nil else { return nil }
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
        try note(state, of: segment)
        return state
    }

    /// Marks what is to be made again as it was, by whatever sender: an interrupted request of which nothing is known yet, and one whose answer was
    /// lost. Another sender, with other limits or an order of its own, would send the same events under other keys.
    private func keepOpen(_ state: inout RetryState, _ previous: RetryState?, _ outcome: Courier.Outcome) {
        if let previous, leavesOpen(previous, outcome) {
            state.staysInterrupted(as: previous, isPutOff: outcome.verdict.putsOff)
        } else if outcome.isToBeRepeated(options.repeatsWhole) {
            state.interrupted = true
        }
    }

    /// Whether the repetition of an interrupted request had no answer that tells whether the first one had arrived: then it is made once more.
    private func leavesOpen(_ previous: RetryState, _ outcome: Courier.Outcome) -> Bool {
        guard previous.isInterrupted, previous.request == outcome.request else { return false }
        if outcome.wasLostAgain { return false }
        switch outcome.verdict {
        // What is cut off by the end of its time would be so each time.
        case .withdrawn(let reason) where reason.kind == "stopped": return options.repeatsWhole
        case .unwell where outcome.verdict.tellsOnlyWhenToComeBack, .doubtful, .circling: return options.repeatsWhole
        // So it may be answered each time for one of its segments, while the others would pass.
        case .unwell where outcome.verdict.putsOff:
            return options.repeatsWhole || previous.putOff ?? 0 < Self.mostPutOff
        case .unwell, .withdrawn, .misconfigured, .moved: return true
        case .delivered, .refused, .tooLarge, .brokenOff: return false
        }
    }

    /// With the wait between them growing, or as long as the destination asks for, that is many minutes.
    private static let mostPutOff = 8

    /// Notes how far a segment is delivered that goes out in parts: a crash, or a failure of the next part, repeats that alone.
    ///
    /// - Parameter lines: So many from the first one on.
    /// - Returns: The sidecar.
    func noteDelivery(of segment: PreparedSegment, lines: Int64) throws(FileError) -> RetryState {
        let time = now()
        var state = previous(of: segment) ?? .inParts(at: time)
        let content = try segment.claim.contentMark()
        state.noteDelivery(.init(lines: lines, destination: destinationID, content: content), at: time)
        let spool = try lease.spool()
        // What the other side has is not to be sent again: on a full disk the reserve is for that, too. A segment that has not begun waits until
        // others that go out in parts have ended, and given their sidecars' room back.
        try spool.writeSidecar(state, of: segment.claim, with: .blocks)
        segment.claim.keep(nil)
        return state
    }

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

    /// Splits a segment that is too large for the link, if it was tried often enough, and, unless the user wants it split all the same, no
    /// try may have arrived whole.
    ///
    /// - Returns: Whether it has ended.
    func splitIfBroken(_ segment: PreparedSegment, _ outcome: Courier.Outcome) async throws(FileError) -> Bool {
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
            return try reject(claim, SegmentFault(damage), attempts: segment.attempt) == nil
        // A file with a name from another tool may have its proper name by now: the next scan finds it.
        case .failure(.noRoom): return try !lease.spool().directory.contains(claim.name)
        case .failure(.file(let error)):
            warn("\(claim.name) is too large for this link, and cannot be split now: \(error)")
            return try !lease.spool().directory.contains(claim.name)
        }
        return true
    }

    private func divide(_ claim: Claim) async -> Result<Split, SplitFailure> {
        await blocking { [lease, options, now, loan] in
            func attempt() -> Result<Split, SplitFailure> {
                do throws(SplitFailure) { return .success(try Self.split(claim, lease, at: now(), options)) } catch {
                    return .failure(error)
                }
            }
            func isRoomless(_ result: Result<Split, SplitFailure>) -> Bool {
                if case .failure(.file(let error)) = result { error.isDiskFull } else { false }
            }
            var result = attempt()
            guard isRoomless(result), let spool = try? lease.spool() else { return result }
            // On a full disk delivered segments make room, and then the reserve. The halves are about as large as what is split.
            if options.sentGivesWay, let freed = spool.freeSent(atLeast: claim.status.size + .kibibytes(16)), freed.segments > 0 {
                result = attempt()
            }
            guard isRoomless(result), loan.begin(claim.name, isPending: { (try? spool.directory.contains($0)) ?? true }) else {
                return result
            }
            defer { loan.end((try? result.get().halves) ?? []) }
            do throws(FileError) {
                result = try spool.lendingMostOfReserve { () throws(FileError) in
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
        try settler.submit(
            Ending(
                split.parent, .split, entry(split.parent, .split, status: status, attempts: attempts, detail: detail)))
        if split.parent.name != claim.name, hasSidecar { try lease.spool().removeSidecar(of: claim.name) }
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
        case .failure(.damaged(let damage)): return try reject(claim, SegmentFault(damage), attempts: attempts)
        case .failure(.file(let error)): return try postpone(claim, error, attempts: attempts, sidecar)
        }
        return nil
    }

    private func postpone(
        _ claim: Claim, _ error: FileError, attempts: Int, _ sidecar: RetryState?
    ) throws(FileError) -> Timestamp {
        warn("\(error); \(claim.name) is too large for the destination and stays whole for now")
        // A note of it would take the room that others need.
        if error.isDiskFull { return now() + Lane.roomPatience }
        return try backOff(claim, kind: "split", "\(error)", attempts: attempts, sidecar) {
            BrokenTries.count(before: $0, .nothing)
        }
    }

    /// Leaves a segment alone for a while for what is wrong with the spool, not with the segment.
    private func backOff(
        _ claim: Claim, kind: String, _ message: String, attempts: Int, _ sidecar: RetryState?, broken: (RetryState?) -> Int?
    ) throws(FileError) -> Timestamp {
        let time = now()
        var generator = SystemRandomNumberGenerator()
        let until = time + options.backOff.wait(afterFailures: max(1, attempts), using: &generator)
        let spool = try lease.spool()
        guard try spool.directory.contains(claim.name) else { return until }
        let previous = sidecar ?? (try? spool.sidecar(of: claim)) ?? nil
        do throws(FileError) {
            try spool.writeSidecar(
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

    private static func split(
        _ claim: Claim, _ lease: SpoolLease, at now: Timestamp, _ options: UploadOptions
    ) throws(SplitFailure) -> Split {
        let spool: Spool
        do throws(FileError) { spool = try lease.spool() } catch { throw .file(error) }
        return try spool.split(claim, at: now, inflateLimit: options.inflateLimit)
    }

    /// - Returns: When it is to be tried again, if it could not be rejected now.
    func reject(_ claim: Claim, _ fault: SegmentFault, attempts: Int) throws(FileError) -> Timestamp? {
        try reject(claim, kind: fault.kind, message: fault.message, attempts: attempts, offset: fault.offset)
    }

    private func reject(_ segment: PreparedSegment, _ verdict: Verdict, attempts: Int) throws(FileError) -> Timestamp? {
        guard case .refused(let reason, let body) = verdict else { return nil }
        return try reject(
            segment.claim, kind: reason.kind, status: reason.status, message: reason.message + progress(of: segment),
            attempts: attempts, body: body)
    }

    /// For what is rejected: the rest alone would have to be sent.
    private func progress(of segment: PreparedSegment) -> String {
        let lines = segment.delivered(to: destinationID)
        return lines > 0 ? "; its first \(lines) lines were delivered" : ""
    }

    private func reject(
        _ claim: Claim, kind: String, status: Int? = nil, message: String, attempts: Int, offset: Int64? = nil,
        body: String? = nil
    ) throws(FileError) -> Timestamp? {
        do throws(FileError) {
            try lease.spool().probeRejected(leavesRoom: options.order != .strict)
        } catch {
            // A line in the ledger would say that it is where it is not.
            if settler.noteUnrejectable(error) { warn("\(error); what is to be rejected stays where it is, \(claim.name) first") }
            if error.isDiskFull {
                giveBackBlock(of: claim)
                return now() + Lane.longestPatience
            }
            let message = "is to be rejected (\(message)), and cannot be: \(error)"
            // It may have arrived whole.
            return try backOff(claim, kind: "rejected", message, attempts: attempts, nil) { _ in nil }
        }
        var reason = RejectionReason(
            at: now(), kind: kind, status: status, message: message, attempts: attempts, offset: offset, body: body)
        reason.delivered = ((try? lease.spool().sidecar(of: claim)) ?? nil)?.delivered
        try settler.submit(
            Ending(claim, .rejected(reason), entry(claim, .rejected, status: status, attempts: attempts, detail: message)))
        return nil
    }

    /// On a full disk a segment that cannot be rejected waits, and the block of a sidecar that says nothing is for one that can be sent.
    private func giveBackBlock(of claim: Claim) {
        guard let spool = try? lease.spool(), ((try? spool.sidecar(of: claim)) ?? nil)?.isOfNothing == true else { return }
        try? spool.removeSidecar(of: claim.name)
    }

    private func backOff(
        _ segment: PreparedSegment, _ outcome: Courier.Outcome, isProven: Bool, _ events: inout [UploadEvent]
    ) throws(FileError) -> Aftermath {
        guard let reason = outcome.verdict.reason else { return .asBefore }
        let end = outcome.end ?? (now(), Double.random(in: 0...1))
        let time = end.time
        var state = tried(segment, outcome, reason, scope: .segment, at: time)
        // In a circle of receivers it waits, however often it is tried: elsewhere it would pass.
        var isOwnFault = isProven
        if case .circling = outcome.verdict { isOwnFault = false }
        if isOwnFault { state.failures += 1 }
        if state.failures >= options.backOff.failuresAllowed {
            let message =
                "failed \(state.failures) times while the destination was well; last: \(reason.message)\(progress(of: segment))"
            return try reject(
                segment.claim, kind: "exhausted", status: reason.status, message: message, attempts: state.attempts
            ).map { .waits(until: $0) } ?? .ended
        }
        let failures = outcome.tries ?? (isOwnFault ? state.failures : state.attempts)
        var wait = options.backOff.wait(afterFailures: failures, chance: end.chance)
        // The destination is left alone for that long: after it, it is the others' turn.
        if !isProven, case .unwell(_, let retryAfter?) = outcome.verdict {
            wait = min(retryAfter + wait, options.backOff.longestWait)
        }
        state.nextAttemptAt = time + (outcome.isLast ? .zero : wait)
        try note(state, of: segment)
        let told = Verdict.Reason(kind: reason.kind, status: reason.status, message: state.lastError.message)
        events.append(.backsOff(segment: segment.claim.name, until: state.nextAttemptAt, told))
        return .waits(until: state.nextAttemptAt)
    }

    /// Writes down what is known of a segment's tries. On a full disk it may be known to this process alone: that ends no pass, which may make
    /// room.
    private func note(_ state: RetryState, of segment: PreparedSegment) throws(FileError) {
        // How many events it carried decides the key of a part.
        let tellsRequest =
            state.isInterrupted || state.requestEvents != nil || options.repeatsWhole && state.request != nil
        do throws(FileError) {
            try lease.spool().writeSidecar(state, of: segment.claim, with: tellsRequest ? .reserve : .reserveButForSplits)
        } catch {
            guard error.isDiskFull else { throw error }
        }
    }

    /// What is known of earlier tries. Another uploader may have failed with it between the scan and the claim.
    private func previous(of segment: PreparedSegment) -> RetryState? {
        (try? lease.spool().sidecar(of: segment.claim)) ?? segment.sidecar
    }

    private func tried(
        _ segment: PreparedSegment, _ outcome: Courier.Outcome, _ reason: Verdict.Reason,
        scope: RetryState.LastError.Scope, at time: Timestamp
    ) -> RetryState {
        let previous = previous(of: segment)
        var message = reason.message
        if outcome.hadNoAnswer, segment.facts.events != 1 {
            message += BrokenTries.hint(options.splitBroken, before: previous, outcome.trace.departure)
        }
        var state = RetryState(
            attempts: (previous?.attempts ?? 0) + 1, failures: previous?.failures ?? 0,
            firstAttemptAt: previous?.firstAttemptAt ?? time, lastAttemptAt: time, nextAttemptAt: time,
            lastError: .init(scope: scope, kind: reason.kind, status: reason.status, message: message),
            broken: BrokenTries.count(before: previous, outcome.trace.departure)
        ).with(delivered: previous?.delivered)
        (state.request, state.requestEvents) = (outcome.request, outcome.requestEvents)
        keepOpen(&state, previous, outcome)
        return state
    }

    private func ending(
        _ segment: PreparedSegment, _ disposal: Ending.Disposal, _ outcome: LedgerEntry.Outcome, status: Int?,
        detail: String?
    ) -> Ending {
        var entry = entry(segment.claim, outcome, status: status, attempts: segment.attempt, detail: detail)
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
        case .unwell(let reason, _), .doubtful(let reason), .circling(let reason), .misconfigured(let reason),
            .tooLarge(let reason), .brokenOff(let reason), .refused(let reason, _), .moved(_, let reason), .withdrawn(let reason):
            reason
        }
    }

    var status: Int? {
        if case .delivered(let status) = self { return status }
        return reason?.status
    }
}
