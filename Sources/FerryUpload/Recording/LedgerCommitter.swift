import FerrySpool
import Synchronization

/// Commits endings while the next segments are already under way.
///
/// The ledger is forced to the disk before files move. What ends while one batch is forced goes into the next, so thousands of
/// small segments a second share a few hundred forced writes. Until its ending is committed, a segment stays claimed.
final class LedgerCommitter: Sendable {
    private let lease: SpoolLease
    private let direct: (any DirectDestination)?
    private let sentGivesWay: Bool
    private let endingCounter: EndingCounter
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let state = Mutex(State())

    private struct State {
        var queue: [Ending] = []
        var isCommitting = false
        var isClosed = false
        /// Callers of `flush()`.
        var flushes = 0
        var failure: FileError?
        var report = UploadReport()
        /// Events that were delivered of segments which are to go on.
        var parts: [FileName: Int64] = [:]
        /// How many events of segments that have not ended were put into `rejected/`.
        var setAside: [FileName: Int64] = [:]
        /// Whether it was reported that nothing can be rejected, since something could.
        var saidUnrejectable = false
        /// What the last batch moved and is not yet forced to the disk.
        var changed: ChangedFolders?
        /// `run()`, when there is nothing to do.
        var worker: CheckedContinuation<Void, Never>?
        /// `run()`, when it waits for more endings than it has.
        var gatherer: CheckedContinuation<Void, Never>?
        /// Callers that wait for a batch to end.
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Whether more may come, no caller waits for what is there, and it is less than half a batch.
        var isWorthGathering: Bool { !isClosed && flushes == 0 && queue.count < queueLimit / 2 }

        mutating func takeGatherer() -> CheckedContinuation<Void, Never>? { isWorthGathering ? nil : gatherer.take() }
    }

    /// - Parameters:
    ///   - direct: The place that segments were put into without requests: it is forced to the disk before they end.
    ///   - sentGivesWay: On a full disk, delivered segments make room for the ledger, and for want of it are deleted themselves.
    ///   - endingCounter: Where endings are counted, and parts that were delivered.
    init(
        _ lease: SpoolLease, direct: (any DirectDestination)? = nil, sentGivesWay: Bool = false,
        endingCounter: EndingCounter = EndingCounter(),
        onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) {
        self.lease = lease
        self.direct = direct
        self.sentGivesWay = sentGivesWay
        self.endingCounter = endingCounter
        self.onEvent = onEvent
    }

    /// Each waits with an open file; and after a kill -9 this many may be sent a second time, with the same keys.
    private static let queueLimit = 256
    /// How long the first ending of a batch waits for others, at most: a forced write costs as much for one as for two hundred.
    private static let gathering = Duration.milliseconds(8)

    /// While batch follows batch, moves are forced to the disk in this interval.
    private static let syncInterval = Duration.seconds(1)

    /// The first error: what cannot be recorded must not be sent.
    var failure: FileError? { state.withLock(\.failure) }
    /// Whether nothing is to be committed or forced to the disk, and nothing is being committed.
    var isIdle: Bool { state.withLock { $0.queue.isEmpty && !$0.isCommitting && $0.changed == nil } }
    /// What was committed, and what was delivered of segments that have not ended yet.
    var report: UploadReport {
        state.withLock { state in
            var report = state.report
            report.partEvents = state.parts.values.reduce(0) { $0.adding($1) }
            return report
        }
    }
    /// Whether a worker that ends segments has to wait for room.
    var isFull: Bool { state.withLock { $0.queue.count >= Self.queueLimit } }

    /// Notes that a segment that was to be rejected has to stay.
    ///
    /// - Returns: Whether it is the first since the last one that could be rejected.
    func noteUnrejectable(_ error: FileError) -> Bool {
        state.withLock { state in
            state.report.noteUnusable(error)
            defer { state.saidUnrejectable = true }
            return !state.saidUnrejectable
        }
    }

    /// Notes that a part of a segment was delivered, and the rest is to follow.
    func noteDelivered(_ events: Int64, of name: String) {
        state.withLock { state in
            state.parts[FileName(name), default: 0].add(events)
        }
        endingCounter.countDelivery()
    }

    /// Notes that some events of a segment were put into `rejected/` by themselves.
    func noteSetAside(_ entry: LedgerEntry, of name: String) {
        state.withLock { state in
            state.report.rejected += 1
            state.setAside[FileName(name), default: 0].add(entry.events ?? 0)
        }
        endingCounter.countRejection()
        onEvent(.rejected(entry))
    }

    /// Hands over an ending.
    ///
    /// - Throws: What went wrong with an earlier one.
    func submit(_ ending: Ending) throws(FileError) {
        let (failure, worker, gatherer) = state.withLock { state in
            guard state.failure == nil else {
                return (state.failure, nil as CheckedContinuation<Void, Never>?, state.takeGatherer())
            }
            state.queue.append(ending)
            return (nil, state.worker.take(), state.takeGatherer())
        }
        worker?.resume()
        gatherer?.resume()
        if let failure { throw failure }
    }

    /// Waits until there is room for more.
    func waitForRoom() async {
        while isFull { await waitForBatch { $0.queue.count >= Self.queueLimit } }
    }

    /// Waits until everything that was handed over is committed, or has failed.
    func flush() async {
        let gatherer = state.withLock { state in
            state.flushes += 1
            return state.takeGatherer()
        }
        gatherer?.resume()
        while state.withLock({ !$0.queue.isEmpty || $0.isCommitting }) {
            await waitForBatch { !$0.queue.isEmpty || $0.isCommitting }
        }
        state.withLock { $0.flushes -= 1 }
    }

    /// Lets ``run()`` end when the queue is empty.
    func close() {
        let (worker, gatherer) = state.withLock { state in
            state.isClosed = true
            return (state.worker.take(), state.takeGatherer())
        }
        worker?.resume()
        gatherer?.resume()
    }

    /// Commits what is handed over, until closed.
    func run() async {
        var nextSync = ContinuousClock.now + Self.syncInterval
        while true {
            let (isEmpty, isClosed) = state.withLock { ($0.queue.isEmpty, $0.isClosed) }
            if isEmpty {
                await syncFolders()
                if isClosed { return }
                await waitForWork()
                continue
            }
            await gather()
            await commitQueue()
            if ContinuousClock.now >= nextSync {
                await syncFolders()
                nextSync = ContinuousClock.now + Self.syncInterval
            }
        }
    }

    /// Waits for more endings, unless there are enough, or no more come.
    private func gather() async {
        guard state.withLock(\.isWorthGathering) else { return }
        await withTaskGroup { group in
            group.addTask { try? await Task.sleep(for: Self.gathering) }
            group.addTask { await self.waitForEnough() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Waits until nothing is gathered any more, or the task is cancelled.
    private func waitForEnough() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard state.isWorthGathering, !Task.isCancelled else { return false }
                    state.gatherer = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.gatherer.take() }?.resume()
        }
    }

    /// Commits what was handed over.
    ///
    /// On a full disk a few lines may find room where many do not. What is deleted makes room for the next ones once its claims have let go of
    /// their files, so each part is committed and forgotten by itself.
    func commitQueue() async {
        var left = state.withLock { state in
            state.isCommitting = true
            return state.queue.count
        }
        var size = left
        while left > 0 {
            let part = take(min(size, left))
            left -= part.count
            switch await commit(part) {
            case .committed: break
            case .unrecorded(let error) where error.isOutOfSpace && part.count > 1:
                state.withLock { $0.queue.insert(contentsOf: part, at: 0) }
                left += part.count
                size = part.count / 2
            case .unrecorded(let error):
                _ = take(left)
                left = 0
                note(error)
            // What is wrong with one segment's file is no reason to send the others again.
            case .failed(let error): note(error)
            }
        }
        let waiters = state.withLock { state in
            state.isCommitting = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func note(_ error: FileError) { state.withLock { $0.failure = $0.failure ?? error } }

    /// Takes some endings out of the queue, from its beginning.
    private func take(_ count: Int) -> [Ending] {
        state.withLock { state in
            defer { state.queue.removeFirst(count) }
            return Array(state.queue.prefix(count))
        }
    }

    /// What came of committing some endings.
    private enum Outcome {
        case committed
        /// The ledger has no line of them, and they are as they were.
        case unrecorded(FileError)
        case failed(FileError)
    }

    private func commit(_ batch: [Ending]) async -> Outcome {
        let sentGivesWay = sentGivesWay
        let spool: Spool
        do throws(FileError) { spool = try lease.spool() } catch { return .unrecorded(error) }
        let direct = batch.contains(where: \.isDelivered) ? direct : nil
        let recorded: Result<LedgerTotals.Count, FileError> = await blocking {
            do throws(FileError) {
                try direct?.force(spool)
                return .success(try spool.endings.record(batch, sentGivesWay: sentGivesWay))
            } catch {
                return .failure(error)
            }
        }
        let freed: LedgerTotals.Count
        do throws(FileError) { freed = try recorded.get() } catch { return .unrecorded(error) }
        do throws(FileError) {
            // Renames take microseconds, and on this thread they do not compete with its opening of the next segments.
            let changed = try spool.endings.carryOut(
                batch, after: state.withLock(\.changed), sentGivesWay: sentGivesWay)
            state.withLock { state in
                state.changed = changed
                state.report.sentDeleted.add(freed)
                state.report.sentDeleted.add(changed.deleted)
            }
        } catch {
            return .failed(error)
        }
        announce(batch)
        return .committed
    }

    /// Forces moves to the disk, when nothing more urgent is to be done. A power cut before it brings segments back whose ledger lines
    /// are there, and a receiver that knows their keys.
    private func syncFolders() async {
        let changed = state.withLock { state in
            defer { state.changed = nil }
            return state.changed
        }
        guard let changed else { return }
        let failure: FileError? = await blocking {
            do throws(FileError) { try changed.sync() } catch { return error }
            return nil
        }
        if let failure { state.withLock { $0.failure = $0.failure ?? failure } }
    }

    private func waitForWork() async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.queue.isEmpty, !state.isClosed else { return false }
                state.worker = continuation
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }

    private func waitForBatch(while condition: (borrowing State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard condition(state) else { return false }
                state.waiters.append(continuation)
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }

    private func announce(_ batch: [Ending]) {
        state.withLock { state in
            for ending in batch {
                let setAside = state.setAside.removeValue(forKey: FileName(ending.entry.segment)) ?? 0
                state.report.add(ending, without: setAside)
                switch ending.disposal {
                case .sent:
                    state.parts[FileName(ending.entry.segment)] = nil
                    endingCounter.countDelivery()
                case .rejected:
                    state.saidUnrejectable = false
                    endingCounter.countRejection()
                    // The rest of it is sent no more.
                    let delivered = state.parts.removeValue(forKey: FileName(ending.entry.segment)) ?? 0
                    state.report.rejectedPartEvents.add(delivered)
                case .split, .expired, .evicted: break
                }
            }
        }
        for ending in batch {
            switch ending.disposal {
            case .sent: onEvent(.sent(ending.entry))
            case .rejected: onEvent(.rejected(ending.entry))
            case .split: onEvent(.split(ending.entry))
            case .expired, .evicted: break
            }
        }
    }
}

extension UploadReport {
    /// - Parameter events: How many of its events were put into `rejected/` before.
    fileprivate mutating func add(_ ending: Ending, without events: Int64) {
        switch ending.disposal {
        case .sent:
            sent.segments += 1
            sent.bytes += ending.entry.bytes
            sentEvents.add(max(0, (ending.entry.events ?? 0).subtracting(events)))
            if ending.entry.isDuplicate { duplicates += 1 }
        case .rejected: rejected += 1
        case .split: split += 1
        case .expired, .evicted: break
        }
    }
}
