import FerrySpool
import Synchronization

/// Writes endings down while the next segments are already under way.
///
/// The ledger is forced to the disk before files move. What ends while one batch is forced goes into the next, so thousands of
/// small segments a second share a few hundred forced writes. Until its ending is settled, a segment stays claimed.
final class Settler: Sendable {
    private let spool: Spool
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let state = Mutex(State())

    private struct State {
        var queue: [Ending] = []
        var isSettling = false
        var isClosed = false
        /// Callers of `flush()`.
        var flushes = 0
        var failure: FileError?
        var report = UploadReport()
        /// `run()`, when there is nothing to do.
        var worker: CheckedContinuation<Void, Never>?
        /// Who waits for a batch to end.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    init(spool: Spool, onEvent: @escaping @Sendable (UploadEvent) -> Void) {
        self.spool = spool
        self.onEvent = onEvent
    }

    /// Each waits with an open file; and after a kill -9 this many may be sent a second time, with the same keys.
    private static let queueLimit = 256
    /// How long the first ending of a batch waits for others: a forced write costs as much for one as for two hundred.
    private static let gathering = Duration.milliseconds(8)

    /// What went wrong: what cannot be written down must not be sent.
    var failure: FileError? { state.withLock(\.failure) }
    /// What was settled.
    var report: UploadReport { state.withLock(\.report) }
    /// Whoever ends segments has to wait for room.
    var isFull: Bool { state.withLock { $0.queue.count >= Self.queueLimit } }

    /// Hands over an ending.
    ///
    /// - Throws: What went wrong with an earlier one.
    func submit(_ ending: Ending) throws(FileError) {
        let (failure, worker) = state.withLock { state in
            guard state.failure == nil else { return (state.failure, nil as CheckedContinuation<Void, Never>?) }
            state.queue.append(ending)
            defer { state.worker = nil }
            return (nil, state.worker)
        }
        worker?.resume()
        if let failure { throw failure }
    }

    /// Waits until there is room for more.
    func waitForRoom() async {
        while isFull { await waitForBatch { $0.queue.count >= Self.queueLimit } }
    }

    /// Waits until everything that was handed over is settled, or has failed.
    func flush() async {
        state.withLock { $0.flushes += 1 }
        while state.withLock({ !$0.queue.isEmpty || $0.isSettling }) { await waitForBatch { !$0.queue.isEmpty || $0.isSettling } }
        state.withLock { $0.flushes -= 1 }
    }

    /// Lets ``run()`` end when the queue is empty.
    func close() {
        let worker = state.withLock { state in
            state.isClosed = true
            defer { state.worker = nil }
            return state.worker
        }
        worker?.resume()
    }

    /// Settles until closed.
    func run() async {
        while true {
            let (isEmpty, isClosed, isInHurry) = state.withLock {
                ($0.queue.isEmpty, $0.isClosed, $0.isClosed || $0.flushes > 0 || $0.queue.count >= Self.queueLimit / 2)
            }
            if isEmpty {
                if isClosed { return }
                await waitForWork()
                continue
            }
            if !isInHurry { try? await Task.sleep(for: Self.gathering) }
            await settleQueue()
        }
    }

    /// Settles what was handed over.
    func settleQueue() async {
        let batch = state.withLock { state in
            state.isSettling = true
            defer { state.queue = [] }
            return state.queue
        }
        let result = await settle(batch)
        let waiters = state.withLock { state in
            state.isSettling = false
            if case .failure(let error) = result { state.failure = state.failure ?? error }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func settle(_ batch: [Ending]) async -> Result<Void, FileError> {
        let spool = spool
        let recorded: Result<Void, FileError> = await blocking {
            do throws(FileError) { return .success(try spool.record(batch)) } catch { return .failure(error) }
        }
        do throws(FileError) {
            try recorded.get()
            // Renames take microseconds, and on this thread they do not compete with its opening of the next segments.
            try spool.carryOut(batch)
        } catch {
            return .failure(error)
        }
        announce(batch)
        return .success(())
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
        state.withLock { state in for ending in batch { state.report.add(ending) } }
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
    fileprivate mutating func add(_ ending: Ending) {
        switch ending.disposal {
        case .sent:
            sent.segments += 1
            sent.bytes += ending.entry.bytes
            sentEvents += ending.entry.events ?? 0
        case .rejected: rejected += 1
        case .split: split += 1
        case .expired, .evicted: break
        }
    }
}
