import FerrySpool

/// Requests of a bounded size, for bodies of another form than the segment.
extension Workers {
    /// What is left of a job whose segments go out in parts.
    private struct Remainder {
        var job: Dispatcher.Job
        var segments: [PreparedSegment]
        var limits: RequestLimits
        var parts: RequestParts
        /// The number that the first of the segments has in the parts.
        var first = 0

        init(_ job: Dispatcher.Job, _ segments: [PreparedSegment], _ limits: RequestLimits, _ options: UploadOptions) {
            self.job = job
            self.segments = segments
            self.limits = limits
            let destination = job.tools.bookkeeper.destinationID
            parts = RequestParts(
                segments.map {
                    .init(file: $0.claim.file, created: $0.facts.created, line: $0.delivered(to: destination))
                }, as: options.body, limits: limits, inflateLimit: options.inflateLimit)
        }
    }

    /// Sends the segments of a job in requests of a bounded size, one after the other. The next one begins when the one before has arrived, and
    /// it is noted how far that was.
    func sendParts(
        of job: Dispatcher.Job, _ segments: [PreparedSegment], _ limits: RequestLimits, _ courier: inout Courier
    ) async {
        var left = Remainder(job, segments, limits, options)
        while true {
            let (parts, time) = (left.parts, now())
            let made = await blocking { Result { () throws(PartFailure) in try parts.next(at: time) } }
            let part: RequestPart
            switch made {
            case .success(let next?): part = next
            case .success(nil): return putBack(left)
            case .failure(let failure): return end(left, failure)
            }
            let sent = part.slices.map { left.segments[$0.segment - left.first] }
            if let problem = template.followSecrets() { left.job.tools.onEvent(.warning(problem)) }
            var outcome = await deliver(
                .init(facts: sent.map(\.facts), body: part.body, attempt: sent[0].attempt, slices: part.slices), &courier)
            if case .delivered = outcome.verdict {
                guard await goOn(&left, part, outcome) else { return }
                continue
            }
            if sent.count > 1, outcome.verdict.isAboutSegments {
                // Which of them is to blame shows one by one.
                let noted = left.segments.prefix { $0.sidecar != nil }.count
                let single = dispatcher.breakUp(left.job, left.job.items, noted: noted)
                left = Remainder(single, [left.segments[0]], left.limits, options)
                continue
            }
            if case .tooLarge = outcome.verdict {
                if part.events > 1 {
                    left = Remainder(left.job, left.segments, left.limits.halved(of: part.events), options)
                    continue
                }
                do throws(FileError) {
                    let line = part.slices.first { $0.events > 0 }?.lines.upperBound ?? 1
                    outcome.postponedUntil = try left.job.tools.bookkeeper.rejectTooLarge(sent[0], line: line, outcome.verdict)
                } catch {
                    dispatcher.fail(error, left.job)
                }
            }
            // Those behind them were not tried.
            let items = Array(left.job.items.prefix(sent.count))
            dispatcher.putBack(Array(left.job.items.dropFirst(sent.count)), of: left.job, noted: true)
            let tried = Dispatcher.Job(id: left.job.id, lane: left.job.lane, tools: left.job.tools, items: items)
            return dispatcher.finish(tried, sent, outcome)
        }
    }

    /// Notes what a request has delivered.
    ///
    /// - Returns: Whether more of the job is to be sent.
    private func goOn(_ left: inout Remainder, _ part: RequestPart, _ outcome: Courier.Outcome) async -> Bool {
        let ended = part.slices.count { $0.isLast }
        if let slice = part.slices.last, !slice.isLast {
            let place = slice.segment - left.first
            do throws(FileError) {
                left.segments[place].sidecar = try left.job.tools.bookkeeper.noteDelivery(
                    of: left.segments[place], lines: slice.lines.upperBound)
            } catch {
                // It cannot be known later that this part has arrived.
                dispatcher.fail(error, left.job)
            }
        }
        if left.job.tools.settler.isFull { await left.job.tools.settler.waitForRoom() }
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

    private func putBack(_ left: Remainder) {
        dispatcher.putBack(left.job.items, of: left.job, noted: true)
        dispatcher.abandon(left.job)
    }

    /// A segment's events cannot be read, or have no form in a body.
    private func end(_ left: Remainder, _ failure: PartFailure) {
        let place = failure.segment - left.first
        let (item, segment) = (left.job.items[place], left.segments[place])
        var others = left.job.items
        others.remove(at: place)
        dispatcher.putBack(others, of: left.job, noted: true)
        do throws(FileError) {
            let fault: SegmentFault
            switch failure.reason {
            case .event(let event): fault = SegmentFault(event)
            case .damaged(let damage): fault = SegmentFault(damage)
            case .file(let error): throw error
            }
            let bookkeeper = left.job.tools.bookkeeper
            let postponed = try bookkeeper.reject(
                segment.claim, fault.after(segment.delivered(to: bookkeeper.destinationID)),
                attempts: segment.sidecar?.attempts ?? 0)
            dispatcher.skip(item, of: left.job, postponed.map { .waits(until: $0) } ?? .ended)
        } catch {
            dispatcher.skip(item, of: left.job, .waits(until: nil))
            dispatcher.fail(error, left.job)
        }
        dispatcher.abandon(left.job)
    }
}
