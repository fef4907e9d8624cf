public import FerrySpool
import NIOPosix
import Synchronization

/// What happens while an uploader runs.
public enum RunEvent: Sendable {
    /// Something about one segment.
    case upload(spool: String, UploadEvent)
    /// Nothing is sent from a spool now, or something is again (`nil`).
    case blocked(spool: String, SendBlocker?)
    case network(NetworkVerdict)
    /// A spool joined, or is back after it was gone.
    case opened(spool: String, pending: Int, isBack: Bool)
    /// Another uploader sends from the spool too.
    case shared(spool: String, with: UploaderMark)
    /// A limit dropped something.
    case retention(spool: String, RetentionReport)
    /// Journals that dead writers had left, or segments that a receiver had accepted, were published.
    case recovered(spool: String, Recovery)
}

/// Keeps spools delivered until it is stopped.
///
/// What is to be done is decided in ``RunState`` and ``DeliveryState``; this is the clocks, signals and files around them.
public final class Runner: Sendable {
    let options: RunOptions
    let places: [SpoolPattern]
    let onEvent: @Sendable (RunEvent) -> Void
    let counters = RunCounters()
    let endingCounter = EndingCounter()
    let signals = SignalInbox<Signal>()
    let turns: Turns
    let now: @Sendable () -> Timestamp
    let workers: Workers
    /// What was found out at the last look.
    private let latest = Mutex(Latest())
    private let start = ContinuousClock.now
    private let makeNetwork: NetworkWatch.Maker
    let absencePatience: Absence.Patience
    /// Off in tests of folders whose changes the kernel does not tell.
    private let usesInotify: Bool
    let looks: FolderLooks

    struct Latest: Sendable {
        struct Spool: Sendable {
            var path: String
            /// `nil` while it cannot be used.
            var queue: Int?
            var blocker: SendBlocker?
        }
        var spools: [Spool] = []
        /// When the uploader last looked at everything: a watchdog asks.
        var lookedAt: ContinuousClock.Instant?
    }

    enum Signal: Sendable {
        case folder(Int, FolderEvent)
        case networkChanged
        /// What a look at the network showed; `nil`: nothing that can be relied upon.
        case network(NetworkLook?)
        /// Nothing is under way any more.
        case idle
        /// The program sends by itself for a while, or has done so.
        case turn
        /// Send in this interval from now on.
        case interval(Duration)
        case ask
        case tick
        case stop
    }

    /// - Parameters:
    ///   - places: Paths of spools, or of folders of spools (`hub/*`).
    ///   - onEvent: Called from any thread.
    public convenience init(
        _ places: [SpoolPattern], options: RunOptions, now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        onEvent: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) throws(UploadError) {
        try self.init(
            places, options: options, now: now, usesInotify: true, network: NetworkWatch.maker(options), onEvent: onEvent)
    }

    /// - Parameters:
    ///   - usesInotify: Off: folders are looked at now and then.
    ///   - network: Makes what tells of the network.
    init(
        _ places: [SpoolPattern], options: RunOptions, now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        usesInotify: Bool = true, absencePatience: Absence.Patience = .init(), looks: FolderLooks = FolderLooks(),
        network: @escaping NetworkWatch.Maker,
        onEvent: @escaping @Sendable (RunEvent) -> Void = { _ in }
    ) throws(UploadError) {
        self.usesInotify = usesInotify
        self.looks = looks
        self.absencePatience = absencePatience
        makeNetwork = network
        self.places = places
        self.options = options
        self.now = now
        self.onEvent = onEvent
        let signals = signals
        turns = Turns { signals.add(.turn) }
        let delivery = DeliveryState(
            [], options: options.upload, breaker: CircuitBreaker(options.upload), isContinuous: true)
        let counters = counters
        workers = try Workers(
            Dispatcher(delivery, now: now) { signals.add(.idle) }, options: options.upload, now: now,
            onRequest: { counters.count($0) })
    }

    /// Finishes what is under way and ends. Cancelling the task that runs cuts that off as well.
    public func stop() { signals.add(.stop) }

    /// Sends everything now and waits for nothing first.
    public func flush() { signals.add(.ask) }

    /// Sends in another interval from now on, zero or less: only when asked. What is stored is sent first.
    public func setInterval(_ interval: Duration) { signals.add(.interval(interval)) }

    /// What was delivered and rejected since the runner was made.
    package var endings: EndingCounts { endingCounter.current }

    /// Does something, a pass over the same spool say, while the runner begins nothing; what is under way ends before.
    ///
    /// - Parameter end: Of the wait for what is under way.
    /// - Returns: `nil` where that took longer, or the task was cancelled before.
    package func whileQuiet<Result: Sendable>(
        until end: ContinuousClock.Instant?, _ body: () async -> Result
    ) async -> Result? {
        let isQuiet = await withTaskGroup(of: Bool.self) { group in
            group.addTask { [turns] in await turns.take() }
            if let end {
                group.addTask {
                    try? await Task.sleep(until: end, clock: .continuous)
                    return false
                }
            }
            var isQuiet = await group.next() ?? false
            group.cancelAll()
            // The turn may have come at the end.
            for await late in group { isQuiet = isQuiet || late }
            return isQuiet
        }
        guard isQuiet else { return nil }
        defer { turns.giveBack() }
        return await body()
    }

    /// Runs until ``stop()``.
    public func run() async {
        turns.runnerBegins()
        defer { turns.runnerEnds() }
        let (committers, continuation) = AsyncStream.makeStream(of: LedgerCommitter.self)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await committer in committers { group.addTask { await committer.run() } }
                }
            }
            group.addTask { [workers] in await workers.followTimetable() }
            group.addTask { [self] in await start() }
            await withTaskGroup(of: Void.self) { group in
                for place in WorkerLoop.make(options.upload.parallel) {
                    group.addTask(executorPreference: place.executor) { [workers] in await workers.work(on: place.eventLoop) }
                }
                let retiring = await withTaskCancellationHandler {
                    var loop = RunLoop(self, usesInotify: usesInotify, network: makeNetwork) { continuation.yield($0) }
                    await loop.run()
                    return loop.retiring
                } onCancel: {
                    stop()
                    workers.connector.closeAll()
                }
                workers.dispatcher.change {
                    $0.stop(.interrupted)
                    $0.end()
                }
                await group.waitForAll()
                // What was answered is written down before anything ends.
                for services in workers.dispatcher.spools + retiring {
                    await services.committer.flush()
                    services.committer.close()
                    services.requests.close()
                }
            }
            continuation.finish()
            group.cancelAll()
        }
    }

    /// Holds forks of the program until the first look at everything is over and what follows from it has begun.
    private func start() async {
        let early = EarlyWork.begin()
        let end = ContinuousClock.now + .seconds(1)
        while sinceLastLook == nil, ContinuousClock.now < end, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) }
        try? await Task.sleep(for: .milliseconds(100))
        _ = consume early
    }

    func moment() -> Moment { Moment(wall: now(), steady: ContinuousClock.now - start) }

    func note(_ latest: Latest) { self.latest.withLock { $0 = latest } }

    /// Returns the state of every spool, the breaker and the counters.
    public func snapshot() -> RunSnapshot {
        let latest = latest.withLock { $0 }
        let time = now()
        return workers.dispatcher.read { delivery in
            RunSnapshot(
                spools: latest.spools.map { spool in
                    RunSnapshot.Spool(
                        path: spool.path, isAvailable: spool.queue != nil,
                        pending: spool.queue.map { delivery.pending(queue: $0) } ?? [:], blocker: spool.blocker)
                },
                breaker: delivery.breakerState(now: time), requestsUnderWay: delivery.jobsUnderWay.count,
                counters: counters.current)
        }
    }

    /// How long ago the uploader last looked at everything: seconds at most, or it hangs.
    package var sinceLastLook: Duration? { latest.withLock { $0.lookedAt.map { ContinuousClock.now - $0 } } }
}
