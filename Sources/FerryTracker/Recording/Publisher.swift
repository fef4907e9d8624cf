import CForks
import Dispatch
import FerrySpool
import Glibc

/// Turns journals into segments and keeps the spool's limits, on a thread of its own, or on that of a caller who waits for it.
final class Publisher: Sendable {
    private let recorder: Recorder
    private let options: Options
    private let thread = WorkThread()
    private let turn = PublishingTurn()
    private let state: ForkSafeMutex<State>

    struct Options: Sendable {
        var level = CompressionLevel.standard
        var makesSpool = true
        /// For a folder that is made anew.
        var identity: @Sendable () -> SpoolIdentity
        /// The limits of a spool that has none of its own.
        var retention = RetentionLimits()
        var warn: @Sendable (TrackerWarning) -> Void
        var now: @Sendable () -> Moment
    }

    private struct State {
        /// In a row.
        var failures = 0
        /// The spool's limits.
        var retention: RetentionLimits
        /// When the spool is to be looked through, and when it last was.
        var nextSweep = Duration.zero
        var lastSweep: Duration?
        var nextReopening = Duration.zero
        var nextFreeing = Duration.zero
        /// When the spool's control file was last written, as far as is known.
        var controlChanged: Timestamp?
        /// When it was looked at last, and what deletion it told of then.
        var lastLook = Duration.zero
        var deletion: Timestamp?
        /// When an uploader last left its mark, as far as is known.
        var uploaderChanged: Timestamp?
        /// What was published since the last look at the control file: a deletion may have been asked for before.
        var published: [SegmentName] = []
        /// The program closed descriptors of the tracker's, and no call has failed for it yet.
        var lost: FileError?
        /// What came up within a turn. The callback may flush, on another thread too: it runs after the turn.
        var warnings: [TrackerWarning] = []
    }

    init(_ recorder: Recorder, retention: RetentionLimits, options: Options) {
        self.recorder = recorder
        self.options = options
        state = ForkSafeMutex(State(retention: retention))
    }

    /// Begins to look after the journals.
    func start() throws(FileError) {
        let code = thread.start { [self] in work() }
        if code != 0 { throw FileError("start a thread for", recorder.spool.path, code: code) }
    }

    /// Does what it was asked to, and no more.
    func end() { thread.end() }

    /// What a person asks a spool for is obeyed within this time.
    private static let flushLook = Duration.seconds(1)
    /// The spool is looked through so often for what others store and what gets too old.
    private static let sweepInterval = Duration.seconds(60)
    /// How often a full or missing spool is looked at again while events are to be stored.
    private static let fullInterval = Duration.seconds(1)
    /// Returns the wait after failed publications: 1 s, 2 s, … up to a minute.
    private static func pause(after failures: Int) -> Duration { .seconds(min(60, 1 << min(failures - 1, 6))) }

    /// Looks after the journals soon.
    func kick() { thread.wake() }

    /// Opens the spool again after it could not be written: perhaps its folder is another by now, a medium that was put back.
    func reopen() {
        let now = options.now().steady
        let isDue = state.withLock { state in
            guard now >= state.nextReopening else { return false }
            state.nextReopening = now + Self.fullInterval
            return true
        }
        guard isDue else { return }
        thread.perform { [self] in
            let spool = recorder.spool
            guard let again = try? options.makesSpool ? Spool.open(spool.path, access: .write) : .openExisting(spool.path),
                (try? again.directory.identity()) != (try? spool.directory.identity())
            else { return }
            replace(with: again)
        }
    }

    /// Takes another spool in the place of this one. The folder may have been made anew: the user and the anonymous ID stay.
    private func replace(with spool: Spool) {
        _ = try? spool.identity.read(orNew: options.identity())
        recorder.replace(spool)
    }

    /// Makes room when the disk was full for an event: delivered segments make room for those that follow, unless the uploader was told how long to
    /// keep them.
    func makeRoom() {
        let now = options.now().steady
        let isDue = state.withLock { state in
            guard now >= state.nextFreeing else { return false }
            state.nextFreeing = now + Self.fullInterval
            return true
        }
        guard isDue else { return }
        thread.perform { [self] in
            freeSent(in: recorder.spool, atLeast: .mebibytes(1))
            giveWarnings()
        }
    }

    /// Returns whether something was deleted.
    @discardableResult
    private func freeSent(in spool: Spool, atLeast wanted: ByteCount) -> Bool {
        guard spool.sent.givesWay, let deleted = spool.sent.free(atLeast: wanted) else { return false }
        if deleted.segments > 0 { keep(.madeRoom(deleted)) }
        return true
    }

    private func keep(_ warning: TrackerWarning) { state.withLock { $0.warnings.append(warning) } }

    /// Calls the program with what came up.
    private func giveWarnings() {
        let warnings = state.withLock { state in
            defer { state.warnings = [] }
            return state.warnings
        }
        for warning in warnings { options.warn(warning) }
    }

    /// Publishes in turn; what the program is to know of it, it learns when the turn is over.
    private func inTurn<Result>(_ body: () -> Result) -> Result {
        defer { giveWarnings() }
        return turn.take(body)
    }

    /// Runs something with the spool, after what is under way.
    func perform(_ body: @escaping @Sendable (Spool) -> Void) { thread.perform { [recorder] in body(recorder.spool) } }

    /// Publishes everything that is stored by now, also what failed before; what comes meanwhile has its own time.
    ///
    /// The calling thread does it, and does not wait until a busy machine has time for one of low priority.
    ///
    /// - Throws: Why something could not be published. It is safe in its journal.
    func publishAll() throws(FileError) {
        checkDescriptors()
        let lost = state.withLock { state in
            defer { state.lost = nil }
            return state.lost
        }
        // Also what the thread has in hand: it is published by the time of the turn, or was put back.
        if let failure = inTurn({ publish(upTo: recorder.rollAll()) }) { throw failure }
        if let lost { throw lost }
    }

    /// Publishes all, for tasks, whose threads must not wait for a disk.
    func publishAll() async throws(FileError) {
        let failure: FileError? = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                do throws(FileError) {
                    try publishAll()
                    continuation.resume(returning: nil)
                } catch {
                    continuation.resume(returning: error)
                }
            }
        }
        if let failure { throw failure }
    }

    /// Sees whether the tracker's descriptors are still its files'. Where they are not, the spool is opened anew, and what the journals held by
    /// then is published from their files.
    func checkDescriptors() {
        let lost = recorder.takeLost()
        let spool = recorder.spool
        if !spool.isStillOpen {
            // Until it can be opened, nothing is done by numbers that are others'.
            guard let again = try? options.makesSpool ? Spool.open(spool.path, access: .create) : .openExisting(spool.path) else {
                return note(lost, in: spool)
            }
            replace(with: again)
        }
        note(lost, in: spool)
        if !lost.isEmpty { _ = try? recorder.spool.housekeeping.recover(level: options.level) }
    }

    private func note(_ lost: [Recorder.Batch], in spool: Spool) {
        guard let first = lost.first else { return }
        let path = "\(spool.path)/\(first.journal.segment.journalName)"
        let error = FileError("go on after the program has closed the descriptor of", path, code: EBADF)
        state.withLock { $0.lost = error }
        options.warn(.sealing(error))
    }

    /// Publishes a number of journals, each of them tried once. To be called in turn.
    ///
    /// - Returns: Why the first of those could not be published that could not.
    private func publish(upTo count: Int) -> FileError? {
        // One that fails is left alone from here on.
        let now = options.now().steady
        var failure: FileError?
        for _ in 0..<count {
            guard let result = publishNextInTurn(at: now) else { break }
            if case .failure(let error) = result { failure = failure ?? error }
        }
        return failure
    }

    /// Publishes one journal that is due.
    ///
    /// - Returns: After what time there is something to do.
    private func work() -> Duration? {
        let now = options.now().steady
        checkDescriptors()
        if publishNext(at: now) != nil {
            sweepIfDue()
            return .zero
        }
        sweepIfDue()
        let flushLook = obeyControl(at: now)
        let next = [recorder.nextDue, flushLook, state.withLock { $0.retention.isUnlimited ? nil : $0.nextSweep }]
        return next.compactMap { $0 }.min().map { $0 - options.now().steady }
    }

    /// Publishes one journal, if one is to be published.
    private func publishNext(at now: Duration) -> Result<Void, FileError>? { inTurn { publishNextInTurn(at: now) } }

    private func publishNextInTurn(at now: Duration) -> Result<Void, FileError>? {
        guard let (batch, spool) = recorder.take(at: now) else { return nil }
        return Result { () throws(FileError) in try publish(batch, in: spool) }
    }

    /// Publishes everything when it was asked for, by `ferry flush` say, and deletes what a program had deleted.
    ///
    /// - Returns: When to look again: while something is in journals.
    private func obeyControl(at now: Duration) -> Duration? {
        let published = state.withLock { state in
            defer { state.published = [] }
            return state.published
        }
        let own = recorder.segments + published
        guard let oldest = own.map(\.created).min() else { return nil }
        let spool = recorder.spool
        followUploader(in: spool)
        let changed = (try? spool.control.changed()) ?? nil
        let isChanged = state.withLock { state in
            defer { state.controlChanged = changed }
            return state.controlChanged != changed
        }
        guard isChanged, let control = try? spool.control.read() else {
            state.withLock { $0.lastLook = now }
            return now + Self.flushLook
        }
        let (lastLook, isNewDeletion) = state.withLock { state in
            defer { (state.lastLook, state.deletion) = (now, control.deletesBefore) }
            return (state.lastLook, state.deletion != control.deletesBefore)
        }
        let wall = options.now().wall
        // A clock that was far ahead has deleted: that ends here.
        if control.deletesBefore != control.deletes(at: wall) { _ = try? spool.control.change(at: wall) { _ in } }
        // What was begun before it was asked for, by whichever clock.
        let begunBefore = isNewDeletion ? recorder.segments(begunBefore: lastLook) : []
        if let before = control.deletes(at: wall), oldest <= before || !begunBefore.isEmpty {
            delete(own, begunBefore, before: before, in: spool)
        } else if let asked = control.flushRequestedAt, oldest <= asked || oldest > options.now().wall {
            // A clock that was set back since says nothing of what came first.
            _ = inTurn { publish(upTo: recorder.rollAll()) }
        }
        return now + Self.flushLook
    }

    /// Follows an uploader that came since the last event, whose interval may be shorter than what the journals wait for.
    private func followUploader(in spool: Spool) {
        let changed = (try? spool.uploaderMark.changed()) ?? nil
        let isChanged = state.withLock { state in
            defer { state.uploaderChanged = changed }
            return state.uploaderChanged != changed
        }
        if isChanged { _ = recorder.follow((try? spool.uploaderMark.read()) ?? nil) }
    }

    /// Publishes what is in journals, and drops of all that what was begun before a deletion. What cannot be dropped now is at the next look.
    ///
    /// - Parameter others: They were begun before, even if their names say otherwise.
    private func delete(_ own: [SegmentName], _ others: [SegmentName], before: Timestamp, in spool: Spool) {
        _ = inTurn { publish(upTo: recorder.rollAll()) }
        if !others.isEmpty {
            _ = try? spool.retention.dropDisabled(Set(others.map(\.fileName)), before: .distantFuture, at: options.now().wall)
        }
        let dropped = try? spool.retention.dropDisabled(Set(own.map(\.fileName)), before: before, at: options.now().wall)
        guard dropped == nil || recorder.segments.contains(where: { $0.created <= before }) else { return }
        state.withLock { state in
            state.published += own
            state.controlChanged = nil
        }
    }

    private func publish(_ batch: Recorder.Batch, in spool: Spool) throws(FileError) {
        do throws(FileError) {
            try seal(batch, in: spool)
            recorder.notePublished(batch, at: options.now().wall)
            recorder.release(batch)
            state.withLock { $0.failures = 0 }
        } catch {
            let failures = recorder.putBack(batch, at: options.now().steady, pause: Self.pause)
            let inARow = state.withLock { state in
                state.failures += 1
                return state.failures
            }
            // Once for one journal, and once for a disk.
            if failures == 1, inARow == 1 { keep(.sealing(error)) }
            throw error
        }
    }

    private func seal(_ batch: Recorder.Batch, in spool: Spool) throws(FileError) {
        // Behind, it is better to be done soon than to save a fifth of the size.
        let level = batch.fill.isBacklog ? min(options.level, .fastest) : options.level
        do throws(FileError) {
            try note(sealMakingRoom(batch, in: spool, level: level), in: spool)
        } catch {
            // The folder may have been removed, or be another medium: what is in the journal is still ours to publish.
            guard let again = try? options.makesSpool ? Spool.open(spool.path, access: .create) : .openExisting(spool.path),
                (try? again.directory.identity()) != (try? spool.directory.identity())
            else { throw error }
            replace(with: again)
            try note(again.journals.seal(batch.journal, level: level), in: again)
        }
    }

    /// Seals a journal. On a full disk delivered segments go for it if they give way, or else a part of the reserve is lent: as for the journals of
    /// the dead.
    private func sealMakingRoom(
        _ batch: Recorder.Batch, in spool: Spool, level: CompressionLevel
    ) throws(FileError) -> SealedJournal {
        do throws(FileError) {
            return try spool.journals.seal(batch.journal, level: level)
        } catch {
            guard error.isDiskFull else { throw error }
        }
        freeSent(in: spool, atLeast: max(.mebibytes(1), batch.fill.bytes))
        return try spool.room.lendingReserve { () throws(FileError) in try spool.journals.seal(batch.journal, level: level) }
    }

    private func note(_ sealed: SealedJournal, in spool: Spool) throws(FileError) {
        guard case .published(let segment, _) = sealed else { return }
        let isLimited = state.withLock { state in
            state.published.append(segment)
            return state.retention.maxBytes != nil
        }
        guard isLimited else { return }
        let size = try spool.directory.status(segment.fileName)?.size ?? .zero
        if recorder.addStored(size, segment.priority) { state.withLock { $0.nextSweep = .zero } }
    }

    /// Applies the limits that the spool has now.
    func setRetention(_ retention: RetentionLimits) {
        let isChanged = state.withLock { state in
            guard state.retention != retention else { return false }
            state.retention = retention
            state.nextSweep = .zero
            return true
        }
        guard isChanged else { return }
        if retention.maxBytes == nil { recorder.setStored([], limit: nil) }
        kick()
    }

    /// Has the publisher look for room after an event found none.
    func lookForRoom() {
        let now = options.now().steady
        let isDue = state.withLock { state in
            guard state.lastSweep.map({ now - $0 >= Self.fullInterval }) ?? true else { return false }
            state.nextSweep = now
            return true
        }
        if isDue { kick() }
    }

    private func sweepIfDue() {
        let now = options.now().steady
        if state.withLock({ !$0.retention.isUnlimited && $0.nextSweep <= now }) { sweep() }
    }

    /// Looks through a spool that has a size limit, so that it is known which events find room.
    func sweepForRoom() { if state.withLock({ $0.retention.maxBytes != nil }) { sweep() } }

    /// Applies the limits, and finds out what the spool holds. To be called by the thread, or before it starts.
    func sweep() {
        let now = options.now().steady
        // A program that stores nothing for long must drop nothing by limits that are others by now.
        let limits = try? recorder.spool.settings.limits(or: options.retention)
        state.withLock { state in
            state.lastSweep = now
            state.nextSweep = now + Self.sweepInterval
            state.retention = limits ?? state.retention
        }
        guard let retention = limits else { return }
        let report: RetentionReport
        // What cannot be listed now is listed at the next look; storing goes on.
        do throws(FileError) { report = try recorder.spool.retention.apply(retention) } catch { return }
        recorder.setStored(report.stored, limit: retention.maxBytes)
        if report.expired.segments + report.evicted.segments > 0 { options.warn(.dropped(report)) }
    }
}
