import FerrySpool

/// What a destination refuses of a request that it takes.
extension Workers {
    /// Puts what the destination refused into `rejected/`, before it is noted that the rest was delivered: lines of a segment by themselves, and a
    /// segment of which it took nothing as it is.
    ///
    /// Whose lines find no room there stays pending, and the others go on: at its next try the events that are there are not taken twice.
    ///
    /// - Returns: What the request has delivered of each segment. The others are taken out of the job.
    func settleRefused(_ left: inout Remainder, _ part: RequestPart, _ outcome: RequestOutcome) async -> [RequestPart.Slice] {
        if outcome.trace.refused.isEmpty { return part.slices }
        var delivered: [RequestPart.Slice] = []
        for slice in part.slices {
            let place = left.place(of: slice.segment)
            let lines = part.refused(outcome.trace.refused, of: slice.segment)
            let item = left.job.items[place]
            do throws(FileError) {
                if lines.isEmpty {
                    delivered.append(slice)
                } else if slice.isWhole, Int64(lines.count) == slice.events {
                    dispatcher.skip(item, of: left.job, try reject(left.segments[place], lines, left.job.services))
                    left.takeOut(slice.segment)
                } else {
                    let entry = try await setAside(lines, of: left.segments[place], left.job.services.recorder)
                    left.job.services.committer.noteSetAside(entry, of: item.name)
                    let were =
                        lines.count == 1
                        ? "1 of its lines was refused, and is" : "\(lines.count) of its lines were refused, and are"
                    left.segments[place].note("\(were) rejected/\(entry.segment)")
                    delivered.append(slice)
                }
            } catch {
                let what =
                    lines.count == 1
                    ? "1 of its lines was refused, and finds" : "\(lines.count) of its lines were refused, and find"
                left.job.services.onEvent(
                    .warning("\(error); \(item.name) stays pending: \(what) no place in \(Spool.rejectedName)/"))
                dispatcher.skip(item, of: left.job, .unusable(error))
                left.takeOut(slice.segment)
            }
        }
        return delivered
    }

    private func setAside(
        _ lines: [RefusedLine], of segment: PreparedSegment, _ recorder: OutcomeRecorder
    ) async throws(FileError) -> LedgerEntry {
        try await blocking { Result { () throws(FileError) in try recorder.setAside(lines, of: segment) } }.get()
    }

    /// Rejects a segment all of whose events were refused.
    private func reject(
        _ segment: PreparedSegment, _ lines: [RefusedLine], _ services: SpoolServices
    ) throws(FileError) -> SkipReason {
        guard segment.claim.isUnchanged else {
            services.onEvent(.warning("\(segment.claim.name) was changed while it was sent; it stays pending"))
            return .beingWritten(until: now() + ForeignFile.quietPeriod)
        }
        return try services.recorder.rejectWhole(segment, lines).map { .waits(until: $0) } ?? .ended
    }
}
