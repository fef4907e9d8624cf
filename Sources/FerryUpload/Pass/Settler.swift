import FerrySpool

/// Writes endings down while the next segments are already under way.
///
/// The ledger is forced to the disk before files move. What ends while one batch is forced goes into the next, so thousands of
/// small segments a second share a few hundred forced writes. Until its ending is settled, a segment stays claimed.
actor Settler {
    private let spool: Spool
    private let onEvent: @Sendable (UploadEvent) -> Void
    private var queue: [Ending] = []
    private var isSettling = false
    private var isClosed = false
    /// Who waits for everything to be settled.
    private var flushes = 0
    private var worker: CheckedContinuation<Void, Never>?
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private(set) var failure: FileError?
    /// What was settled.
    private(set) var report = UploadReport()

    init(spool: Spool, onEvent: @escaping @Sendable (UploadEvent) -> Void) {
        self.spool = spool
        self.onEvent = onEvent
    }

    /// Each waits with an open file; and after a kill -9 this many may be sent a second time, with the same keys.
    private static let queueLimit = 256
    /// How long the first ending of a batch waits for others: a forced write costs as much for one as for two hundred.
    private static let gathering = Duration.milliseconds(8)

    /// Hands over an ending. Waits while too many are unsettled.
    ///
    /// - Throws: What went wrong with an earlier one: what cannot be written down must not be sent.
    func submit(_ ending: Ending) async throws(FileError) {
        if let failure { throw failure }
        while queue.count >= Self.queueLimit { await waitForBatch() }
        queue.append(ending)
        worker?.resume()
        worker = nil
    }

    /// Waits until everything that was handed over is settled, or has failed.
    func flush() async {
        flushes += 1
        while !queue.isEmpty || isSettling { await waitForBatch() }
        flushes -= 1
    }

    /// Lets ``run()`` end when the queue is empty.
    func close() {
        isClosed = true
        worker?.resume()
        worker = nil
    }

    /// Settles until closed.
    func run() async {
        while true {
            if queue.isEmpty {
                if isClosed { return }
                await withCheckedContinuation { worker = $0 }
                continue
            }
            if queue.count < Self.queueLimit / 2, !isClosed, flushes == 0 { try? await Task.sleep(for: Self.gathering) }
            let batch = queue
            queue = []
            isSettling = true
            let spool = spool
            let result: Result<Void, FileError> = await blocking {
                do throws(FileError) { return .success(try spool.record(batch)) } catch { return .failure(error) }
            }
            do throws(FileError) {
                try result.get()
                // Renames take microseconds, and by this thread they do not compete with its opening of the next segments.
                try spool.carryOut(batch)
                announce(batch)
            } catch {
                failure = failure ?? error
            }
            isSettling = false
            let waiting = waiters
            waiters = []
            for waiter in waiting { waiter.resume() }
        }
    }

    private func waitForBatch() async {
        await withCheckedContinuation { waiters.append($0) }
    }

    private func announce(_ batch: [Ending]) {
        for ending in batch {
            switch ending.disposal {
            case .sent:
                report.sent.segments += 1
                report.sent.bytes += ending.entry.bytes
                report.sentEvents += ending.entry.events ?? 0
                onEvent(.sent(ending.entry))
            case .rejected:
                report.rejected += 1
                onEvent(.rejected(ending.entry))
            case .split:
                report.split += 1
                onEvent(.split(ending.entry))
            case .expired, .evicted: break
            }
        }
    }
}
