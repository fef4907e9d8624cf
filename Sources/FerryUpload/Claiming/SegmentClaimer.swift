import FerrySpool
import NIOCore

/// Claims segments and looks at them: the file side of a pass.
struct SegmentClaimer: Sendable {
    let options: UploadOptions
    var travel = TravelWatch()
    var arrivals: FolderArrivals?
    var ways = Ways()
    var sound = SoundSegments()
    let warn: @Sendable (String) -> Void

    /// Returns whether a look may take microseconds. Inflating a whole file, and putting its events in another form, may take seconds.
    static func isQuick(isForeign: Bool, _ options: UploadOptions) -> Bool {
        options.verification != .always && !isForeign && options.body == .ndjson
    }

    /// - Parameter inflates: Whether it may inflate a whole file, which belongs on a thread that may block.
    func prepare(_ item: QueuedSegment, in spool: Spool, now: Timestamp, inflates: Bool = true) -> Preparation {
        let claim: Claim
        switch spool.claims.take(item.name, mayBeUnfinished: item.mayBeUnfinished) {
        case .claimed(let claimed): claim = claimed
        case .busy: return .taken
        case .gone: return .gone
        case .unusable(let error): return .unusable(error)
        }
        do throws(FileError) {
            // Asked after the claim, not of the scan: another uploader may have tried the segment since, and a crash have ended that.
            let look = arrivals?.look(for: SegmentSplitting.traces(of: claim))
            if try travel.hasMark(of: claim.name, spool, stateChanges: look?.stateChanges) { return .travels }
            return try prepare(claim, item, in: spool, now: now, look, inflates: inflates)
        } catch {
            return .unusable(error)
        }
    }

    private func prepare(
        _ claim: Claim, _ item: QueuedSegment, in spool: Spool, now: Timestamp, _ look: FolderArrivals.Look?, inflates: Bool
    ) throws(FileError) -> Preparation {
        let isUntried = item.isPlain && look.map { !$0.mayHoldNames } ?? false
        let sidecar = isUntried ? nil : try sidecar(of: claim, in: spool)
        if let sidecar, let until = options.wait(of: sidecar, at: now, forgetsBefore: item.forgetsWaitsBefore) {
            return .waits(until: until, request: options.repeatedRequest(of: sidecar))
        }
        if !isUntried, try spool.splitting.mayBeHalfDone(claim) {
            guard inflates else { return .needsInflating }
            if try spool.splitting.isHalfDone(claim) { return .halfSplit(claim) }
        }
        let isForeign = claim.segmentName == nil
        if isForeign, !ForeignFile.isQuiet(changed: claim.touched, now: now) {
            return .beingWritten(until: claim.touched + ForeignFile.quietPeriod)
        }
        // A small segment is read once, for the look at it and for its request.
        let content =
            claim.status.size <= TransportOptions.smallBody ? try claim.file.readBytes(Int(claim.status.size.bytes), at: 0) : nil
        let verification = verification(of: claim, sidecar)
        let examined =
            inflates
            ? try claim.examine(verification, inflateLimit: options.inflateLimit, content: content)
            : try claim.examineQuickly(verification, content: content)
        guard let examination = examined else { return .needsInflating }
        if let unready = unready(claim, examination, sidecar, now: now) { return unready }
        if verification == .always, options.cuts != nil { sound.add(claim) }
        let notes = claim.file.notes
        let facts = try SegmentMetadata(
            claim, notes, spoolID: spool.id,
            trail: ways.trail(notes.trail, claim.segmentName, in: spool, stateChanges: look?.stateChanges),
            events: examination.events, isLate: item.isLate)
        do throws(TranscodingError) {
            return .ready(
                PreparedSegment(
                    claim: claim, facts: facts, body: try body(of: claim, facts, in: spool, content: content, now: now),
                    sidecar: sidecar))
        } catch {
            switch error {
            case .event(let event): return damaged(claim, RejectionCause(event), sidecar)
            case .damaged(let damage): return damaged(claim, RejectionCause(damage), sidecar)
            case .file(let error): throw error
            }
        }
    }

    /// Returns how a claimed segment is to be verified. It is inflated for the asking at the first try only: what was sound then still is. Where
    /// parts of a segment go out, before the first of them in each process: a checksum is at the end of many events, and altered ones would be
    /// delivered before it is read.
    private func verification(of claim: Claim, _ sidecar: RetryState?) -> Verification {
        if options.cuts != nil, options.verification != .never, !sound.contains(claim) { return .always }
        return sidecar != nil && options.verification == .always ? .auto : options.verification
    }

    /// Returns what is known of earlier tries. How much another content of the name was delivered says nothing.
    private func sidecar(of claim: Claim, in spool: Spool) throws(FileError) -> RetryState? {
        guard let sidecar = try spool.sidecars.read(of: claim, warn: { warn("\($0)") }) else { return nil }
        guard let delivered = sidecar.delivered, try delivered.content != claim.contentMark() else { return sidecar }
        return sidecar.with(delivered: nil)
    }

    /// Returns why a segment cannot leave now; `nil` when it can.
    private func unready(
        _ claim: Claim, _ examination: Examination, _ sidecar: RetryState?, now: Timestamp
    ) -> Preparation? {
        if examination.damage != nil || examination.lacksNotes || claim.segmentName == nil, !claim.isUnchanged {
            return .beingWritten(until: now + ForeignFile.quietPeriod)
        }
        if let damage = examination.damage {
            if claim.segmentName != nil {
                if let until = ForeignFile.mayBecomeWhole(damage.kind, changed: claim.touched, now: now) {
                    return .beingWritten(until: until)
                }
                return damaged(claim, RejectionCause(damage), sidecar)
            }
            // What inflates too far is whole, as far as that can be told.
            switch ForeignFile.readiness(changed: claim.touched, isWhole: damage.kind == .tooLarge, now: now) {
            case .ready: return damaged(claim, RejectionCause(damage), sidecar)
            case .settling(let until): return .beingWritten(until: until)
            case .givenUp: return damaged(claim, RejectionCause(damage, kind: "truncated"), sidecar)
            }
        }
        return claim.mayGrow(examination, now: now).map { .beingWritten(until: $0) }
    }

    private func body(
        of claim: Claim, _ facts: SegmentMetadata, in spool: Spool, content: [UInt8]?, now: Timestamp
    ) throws(TranscodingError) -> RequestBody {
        if options.body == .ndjson { return RequestBody(claim, content: content) }
        // Each request is made when it is its turn.
        if options.cuts != nil { return .bytes(ByteBuffer()) }
        return try .transcoded(
            claim, as: options.body, in: spool, of: facts.origin, now: now, inflateLimit: options.inflateLimit)
    }

    private func damaged(_ claim: Claim, _ fault: RejectionCause, _ sidecar: RetryState?) -> Preparation {
        .damaged(claim, fault, attempts: sidecar?.attempts ?? 0)
    }
}
