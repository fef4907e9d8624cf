import FerrySpool

/// Requests of a bounded size, for bodies of another form than the segment.
extension Workers {
    /// Returns the limits of the requests for what is left. A segment whose first lines are delivered goes on behind them, and an interrupted request
    /// is repeated as it was, also where requests may be of any size now; `nil`: none of them is one.
    func limitsOfRest(_ segments: [PreparedSegment], _ services: SpoolServices) -> RequestLimits? {
        let hasRest = segments.contains { $0.delivered(to: services.recorder.destinationID) > 0 }
        let isInterrupted =
            segments[0].sidecar.map { $0.isInterrupted && $0.requestEvents != nil && options.canRepeat($0) } ?? false
        return options.body != .ndjson && (hasRest || isInterrupted) ? RequestLimits() : nil
    }

    /// Sends the segments of a job in requests of a bounded size, one after the other. The next one begins when the one before has arrived, and
    /// it is noted how far that was.
    ///
    /// - Parameter isMoreWaiting: More of the segments' kind follow them: what fills no request goes out with that.
    func sendParts(
        of job: Assignment, _ segments: [PreparedSegment], _ limits: RequestLimits, isMoreWaiting: Bool,
        _ sender: inout RequestSender
    ) async {
        // What was cut shorter, and may have arrived, is asked for as it was; what was interrupted, whichever limits hold now.
        var tried = segments.first?.sidecar?.requestEvents
        let isInterrupted = segments.first?.sidecar?.isInterrupted ?? false
        let first = tried.map { isInterrupted ? RequestLimits(events: $0) : limits.upTo(events: $0) }
        var left = Remainder(job, segments, first ?? limits, options)
        var isMoreWaiting = isMoreWaiting
        var hasSent = false
        while true {
            let (parts, time) = (left.parts, now())
            let made = await blocking { Result { () throws(RequestPartError) in try parts.next(at: time) } }
            let part: RequestPart
            switch made {
            case .success(let next?): part = next
            case .success(nil): return putBack(left)
            case .failure(let failure): return end(left, failure)
            }
            if hasSent, isMoreWaiting, isShort(part, of: left) { return putBack(left) }
            if let unnotable = await unnotable(part, &left) {
                // Those before it end with their last lines: what they free may be what it wants. What may have arrived is not cut shorter.
                guard unnotable.place > 0, tried == nil else { return skip(unnotable, of: left) }
                left = cut(left, after: unnotable.place)
                isMoreWaiting = false
                continue
            }
            var sent = part.slices.map { left.segments[left.place(of: $0.segment)] }
            if let problem = template.followSecrets() { left.job.services.onEvent(.warning(problem)) }
            let outgoing = OutgoingRequest(
                facts: sent.map(\.facts), body: part.body, attempt: sent[0].attempt, slices: part.slices)
            note(outgoing, of: sent, events: part.events, left.job.services)
            var outcome = await deliver(outgoing, left.job.services, &sender)
            // Alone, its segments have other keys: what may have arrived together is asked for once more as it was.
            let isKept = options.repeatsWhole && outcome.verdict.isRetryable
            if sent.count > 1, !isKept, outcome.verdict.isDoubtful {
                let first = outcome
                outcome = await deliver(outgoing, left.job.services, &sender)
                outcome.follows(first)
            }
            if sent.count > 1, !options.repeatsWhole { outcome.resolveDoubt(sent[0].sidecar) }
            if left.limits != limits || outcome.isToBeRepeated(options.repeatsWhole) { outcome.requestEvents = part.events }
            if case .delivered = outcome.verdict {
                let delivered = await settleRefused(&left, part, outcome)
                guard !delivered.isEmpty else { return putBack(left, after: outcome) }
                guard await goOn(&left, part, delivered, outcome) else { return }
                hasSent = true
                // What follows it was in no request.
                if tried != nil { left = Remainder(left.job, left.segments, limits, options) }
                if left.hasGaps { left = Remainder(left.job, left.segments, left.limits, options) }
                tried = nil
                continue
            }
            if case .tooLarge = outcome.verdict, part.events > 1 {
                tried = nil
                left = Remainder(left.job, left.segments, limits.halved(of: part.events), options)
                continue
            }
            if sent.count > 1, !isKept, outcome.verdict.isAboutSegments {
                // Which of them is to blame shows one by one.
                noteArrival(of: &sent, outcome, left.job)
                for (slice, segment) in zip(part.slices, sent) { left.segments[left.place(of: slice.segment)] = segment }
                let noted = left.segments.prefix { $0.sidecar != nil }.count
                for segment in sent { segment.claim.keep(nil) }
                let single = dispatcher.breakUp(left.job, left.job.items, outcome.verdict, noted: noted)
                left = Remainder(single, [left.segments[0]], left.limits, options)
                isMoreWaiting = false
                continue
            }
            if case .tooLarge = outcome.verdict {
                do throws(FileError) {
                    let line = part.slices.first { $0.events > 0 }?.lines.upperBound ?? 1
                    outcome.postponedUntil = try left.job.services.recorder.rejectTooLarge(sent[0], line: line, outcome.verdict)
                } catch {
                    dispatcher.fail(error, left.job)
                }
            }
            // Those behind them were not tried.
            let items = Array(left.job.items.prefix(sent.count))
            dispatcher.putBack(Array(left.job.items.dropFirst(sent.count)), of: left.job)
            let tried = left.job.with(items)
            var segments = sent
            noteBrokenOff(&segments, &outcome, tried)
            return dispatcher.finish(tried, segments, outcome)
        }
    }

    /// Returns whether a request is the last of its job, could carry more, and may go out with what follows.
    private func isShort(_ part: RequestPart, of left: Remainder) -> Bool {
        guard part.events < left.limits.events ?? .max, part.slices.count == left.segments.count,
            part.slices.last?.isLast ?? false
        else { return false }
        // One of which a part is delivered has a sidecar.
        return options.repeatsWhole || left.segments.allSatisfy { $0.sidecar == nil }
    }

    /// Notes what a request has delivered.
    ///
    /// - Parameter delivered: What it has delivered of each segment.
    /// - Returns: Whether more of the job is to be sent.
    private func goOn(
        _ left: inout Remainder, _ part: RequestPart, _ delivered: [RequestPart.Slice], _ outcome: RequestOutcome
    ) async -> Bool {
        let ended = delivered.count { $0.isLast }
        for slice in delivered { left.segments[left.place(of: slice.segment)].note(outcome.trace.remark) }
        // Its segments end one after the other, or all but one, which goes on. What was delivered of none of them does not count as arrived.
        if !left.hasGaps { left.segments[left.place(of: part.slices[0].segment)].claim.noteArrival() }
        if let slice = delivered.last, !slice.isLast {
            let place = left.place(of: slice.segment)
            guard left.segments[place].claim.isUnchanged else {
                setAsideChanged(left, place, outcome)
                return false
            }
            do throws(FileError) {
                left.segments[place].sidecar = try left.job.services.recorder.noteDelivery(
                    of: left.segments[place], lines: slice.lines.upperBound)
                let refused = Int64(part.refused(outcome.trace.refused, of: slice.segment).count)
                left.job.services.committer.noteDelivered(slice.events - refused, of: left.job.items[place].name)
            } catch {
                // It cannot be known later that this part has arrived.
                dispatcher.fail(error, left.job)
            }
        }
        if left.job.services.committer.isFull { await left.job.services.committer.waitForRoom() }
        guard ended < left.segments.count else {
            dispatcher.finish(left.job, left.segments, outcome)
            return false
        }
        let rest = Array(left.job.items.dropFirst(ended))
        guard let next = dispatcher.goOn(left.job, Array(left.segments.prefix(ended)), outcome, rest: rest) else { return false }
        left.job = next
        left.segments.removeFirst(ended)
        left.first += ended
        return true
    }

    /// What cannot be noted would be sent again.
    private struct Unnotable {
        let place: Int
        let error: FileError
    }

    /// Sees whether it can be noted how far a segment is delivered of which a request carries a part. Returns the segment where it cannot.
    private func unnotable(_ part: RequestPart, _ left: inout Remainder) async -> Unnotable? {
        guard let slice = part.slices.last, !slice.isLast, slice.segment > left.noted else { return nil }
        let place = left.place(of: slice.segment)
        let (recorder, committer) = (left.job.services.recorder, left.job.services.committer)
        let before = left.segments[place].delivered(to: recorder.destinationID)
        var hasWaited = false
        while true {
            do throws(FileError) {
                left.segments[place].sidecar = try recorder.noteDelivery(of: left.segments[place], lines: before)
                left.noted = slice.segment
                return nil
            } catch {
                // Endings that are being committed make room.
                guard error.isOutOfSpace, !hasWaited, !committer.isIdle else { return Unnotable(place: place, error: error) }
                await committer.flush()
                hasWaited = true
            }
        }
    }

    private func skip(_ unnotable: Unnotable, of left: Remainder) {
        let item = left.job.items[unnotable.place]
        left.job.services.onEvent(
            .warning("\(unnotable.error); \(item.name) goes out in parts, and how far cannot be noted: it stays pending"))
        skip(item, of: left, .unusable(unnotable.error))
    }

    /// Puts back all segments of a job but the first ones. Returns what is left.
    private func cut(_ left: Remainder, after count: Int) -> Remainder {
        dispatcher.putBack(Array(left.job.items.dropFirst(count)), of: left.job)
        let job = left.job.with(Array(left.job.items.prefix(count)))
        return Remainder(job, Array(left.segments.prefix(count)), left.limits, options)
    }

    /// Sets one segment of a job aside. Those before it are delivered, or put back with the others.
    private func skip(_ item: QueuedSegment, of left: Remainder, _ reason: SkipReason) {
        dispatcher.putBack(left.job.items.filter { $0.name != item.name }, of: left.job, noted: 1)
        dispatcher.skip(item, of: left.job, reason)
        dispatcher.abandon(left.job)
    }

    /// Sets aside a segment that was written into while it goes out in parts: what was delivered of it is neither its old content nor the new.
    private func setAsideChanged(_ left: Remainder, _ place: Int, _ outcome: RequestOutcome) {
        let item = left.job.items[place]
        left.job.services.onEvent(.warning("\(item.name) was changed while it was sent; it stays pending"))
        dispatcher.putBack(Array(left.job.items[(place + 1)...]), of: left.job)
        dispatcher.skip(item, of: left.job, .beingWritten(until: now() + ForeignFile.quietPeriod))
        let done = left.job.with(Array(left.job.items.prefix(place)))
        if place == 0 { dispatcher.abandon(done) } else { dispatcher.finish(done, Array(left.segments.prefix(place)), outcome) }
    }

    private func putBack(_ left: Remainder) {
        let noted = left.segments.prefix { $0.sidecar != nil }.count
        dispatcher.putBack(left.job.items, of: left.job, noted: noted)
        dispatcher.abandon(left.job)
    }

    /// Puts back what follows a request that the destination took, and that has delivered nothing.
    private func putBack(_ left: Remainder, after outcome: RequestOutcome) {
        let noted = left.segments.prefix { $0.sidecar != nil }.count
        dispatcher.putBack(left.job.items, of: left.job, noted: noted)
        dispatcher.finish(left.job.with([]), [], outcome)
    }

    /// Ends a job at a segment whose events cannot be read, or have no form in a body.
    private func end(_ left: Remainder, _ failure: RequestPartError) {
        let place = left.place(of: failure.segment)
        let (item, segment) = (left.job.items[place], left.segments[place])
        guard segment.claim.isUnchanged else {
            left.job.services.onEvent(.warning("\(item.name) was changed while it was sent; it stays pending"))
            return skip(item, of: left, .beingWritten(until: now() + ForeignFile.quietPeriod))
        }
        var others = left.job.items
        others.remove(at: place)
        dispatcher.putBack(others, of: left.job, noted: 1)
        do throws(FileError) {
            let fault: RejectionCause
            switch failure.reason {
            case .event(let event): fault = RejectionCause(event)
            case .damaged(let damage): fault = RejectionCause(damage)
            case .file(let error): throw error
            }
            let recorder = left.job.services.recorder
            let postponed = try recorder.reject(
                segment.claim, fault.after(segment.delivered(to: recorder.destinationID)),
                attempts: segment.sidecar?.attempts ?? 0)
            dispatcher.skip(item, of: left.job, postponed.map { .waits(until: $0) } ?? .ended)
        } catch {
            dispatcher.skip(item, of: left.job, .waits(until: nil))
            dispatcher.fail(error, left.job)
        }
        dispatcher.abandon(left.job)
    }
}
