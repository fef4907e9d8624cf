public import FerrySpool
import Synchronization

/// One upload of everything that is due in a spool.
///
/// The folder is scanned, sent in order by a few workers, and scanned again until a scan finds nothing more to do.
public final class UploadPass: Sendable {
    private let options: UploadOptions
    private let now: @Sendable () -> Timestamp
    private let spool: Spool
    private let services: SpoolServices
    private let leftovers: Mutex<Leftovers>
    private let workers: Workers
    /// One for each worker.
    private let workplaces: [WorkerLoop]

    private var dispatcher: Dispatcher { workers.dispatcher }

    /// What is not the workers' to send.
    private struct Leftovers {
        var unfinished: [RecoveryError]
        var others = OtherFiles()
        /// What was deleted to finish something.
        var sentDeleted = LedgerTotals.Count()
    }

    /// - Parameters:
    ///   - unfinished: What could not be finished when the spool was opened: it is tried again when what is published has left, which
    ///     may have freed the space that it needs.
    ///   - now: The wall clock.
    ///   - onEvent: Called as things happen, from any thread.
    public init(
        _ spool: Spool, options: UploadOptions, unfinished: [RecoveryError] = [],
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
    ) throws(UploadError) {
        self.options = options
        self.now = now
        leftovers = Mutex(Leftovers(unfinished: unfinished))
        self.spool = spool
        services = SpoolServices(SpoolLease(spool), options: options, arrivals: FolderArrivals(spool), now: now, onEvent: onEvent)
        workplaces = WorkerLoop.make(options.parallel)
        let breaker: CircuitBreaker
        do throws(FileError) {
            let id = DestinationID.id(of: "\(options.destination)")
            let known = try spool.destinations.state(id) { onEvent(.warning("\($0)")) }
            breaker = CircuitBreaker(options, state: known, ignoringWaitsBefore: options.ignoresWaits ? now() : nil)
        } catch {
            throw .file(error)
        }
        let delivery = DeliveryState([], options: options, breaker: breaker, isContinuous: false)
        workers = try Workers(Dispatcher(delivery, spools: [services], now: now), options: options, now: now)
    }

    /// Starts nothing more; what is under way is finished. Cancelling the task that runs the pass cuts that off as well.
    public func stop() { dispatcher.stop(.interrupted) }

    /// Sends what is due for as long as the time allows.
    ///
    /// - Parameters:
    ///   - deadline: From now. What is under way then is cut off and stays pending.
    ///   - margin: What must be left for a request to be started. By default 30 s, but no more than a quarter of the time.
    public static func flush(
        _ spool: Spool, options: UploadOptions, deadline: Duration, margin: Duration? = nil
    ) async throws(UploadError) -> FlushResult {
        var options = options
        options.timeLimit = deadline
        options.timeLimitMargin = margin
        return FlushResult(try await UploadPass(spool, options: options).run())
    }

    /// Runs the pass.
    public func run() async throws(UploadError) -> UploadReport {
        do throws(FileError) {
            let early = EarlyWork.begin()
            var report = UploadReport()
            report.travelling = try spool.exports.travellingBundles { [services] in services.onEvent(.warning("\($0)")) }
            let control = try spool.control.read { [services] in services.onEvent(.warning("\($0)")) }
            report.control = control
            report.unfinished = leftovers.withLock(\.unfinished)
            if control.stopsSending {
                report.remaining = try spool.scan().entries.count
                return report
            }
            report.retention = try spool.retention.apply(options.retention) { [services] in services.onEvent(.warning("\($0)")) }
            if let arrival = options.due {
                report.retention.expired.add(try spool.retention.dropLate(arrival, now: now()))
                let time = now()
                dispatcher.change { $0.queues[0].rules.apply(arrival, at: time) }
            }
            // A destination that is not due is left alone by every caller.
            if !options.ignoresWaits, let until = destinationWaitsUntil {
                report.destinationWaitsUntil = until
                report.remaining = try spool.scan().entries.count
                return report
            }
            try await Self.probe(spool, options, at: now())
            if options.keepsSent {
                let freed = try spool.sent.noteGivesWay(options.sentGivesWay)
                leftovers.withLock { $0.sentDeleted.add(freed) }
            }
            _ = consume early
            try await send()
            let sent = services.committer.report
            report.sent = sent.sent
            report.sentEvents = sent.sentEvents
            report.partEvents = sent.partEvents
            report.rejectedPartEvents = sent.rejectedPartEvents
            report.rejected = sent.rejected
            report.split = sent.split
            report.duplicates = sent.duplicates
            report.sentDeleted = await pruneSent()
            report.sentDeleted.add(sent.sentDeleted)
            report.sentDeleted.add(leftovers.withLock(\.sentDeleted))
            report.stopReason = dispatcher.read(\.plan.stopReason)
            if report.stopReason == .paused { report.control = try spool.control.read() }
            report.destinationWaitsUntil = destinationWaitsUntil
            // The last round of a pass that was not stopped ended nothing: its listing is what is there.
            report.remaining =
                report.stopReason == nil
                ? dispatcher.read { $0.queues[0].listed - $0.queues[0].summary.taken } : try spool.scan().entries.count
            if report.stopReason == nil {
                (report.taken, report.takenNames) = dispatcher.read {
                    ($0.queues[0].summary.taken, $0.queues[0].summary.takenNames)
                }
            }
            (report.unfinished, report.others) = leftovers.withLock { ($0.unfinished, $0.others) }
            report.incomplete = dispatcher.read { $0.queues[0].summary.incomplete }
            (report.unusable, report.unusableReasons) = dispatcher.read {
                ($0.queues[0].summary.unusable, $0.queues[0].summary.unusableReasons)
            }
            report.heldLate = dispatcher.read { $0.heldLate(queue: 0) }
            report.unusable += sent.unusable
            report.unusableReasons += sent.unusableReasons
            return report
        } catch {
            throw .file(error)
        }
    }

    private static func probe(_ spool: Spool, _ options: UploadOptions, at now: Timestamp) async throws(FileError) {
        let failure: FileError? = await blocking {
            do throws(FileError) {
                try spool.room.probe(
                    isDurable: false, keepsSent: options.keepsSent, sentGivesWay: options.sentGivesWay, at: now)
            } catch {
                return error
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// Deletes delivered segments whose time is over.
    private func pruneSent() async -> LedgerTotals.Count {
        let (spool, limits, now) = (spool, options.sentRetention, now())
        let pruning = await blocking { spool.sent.prune(limits, now: now) }
        for problem in pruning.problems.prefix(Self.mostWarnings) { services.onEvent(.warning("\(problem)")) }
        return pruning.deleted
    }

    private static let mostWarnings = 10

    /// Tries again to finish what could not be finished when the spool was opened.
    ///
    /// - Returns: Whether there is something new to send.
    private func finishLeftovers() async -> Bool {
        let unfinished = leftovers.withLock(\.unfinished)
        guard !unfinished.isEmpty else { return false }
        let (spool, sentGivesWay) = (spool, options.sentGivesWay)
        let (freed, again): (LedgerTotals.Count, Recovery?) = await blocking {
            let isFull = sentGivesWay && unfinished.contains(where: \.error.isDiskFull)
            let freed = isFull ? spool.sent.free(forFinishing: unfinished) : nil
            return (freed ?? .init(), try? spool.housekeeping.recover())
        }
        leftovers.withLock { leftovers in
            leftovers.sentDeleted.add(freed)
            if let again { leftovers.unfinished = again.problems }
        }
        guard let again else { return false }
        return again.hasPublished
    }

    private var destinationWaitsUntil: Timestamp? {
        let now = now()
        return dispatcher.read { $0.breaker.waitsUntil(now: now) }
    }

    private func send() async throws(FileError) {
        await withTaskGroup(of: Void.self) { group in
            // With the second worker: of three on two event loops it has its own for itself.
            group.addTask(executorPreference: workplaces[min(1, workplaces.count - 1)].executor) { [services] in
                await services.committer.run()
            }
            group.addTask { [workers] in await workers.followTimetable() }
            group.addTask { await self.obeyControl() }
            await runUntilDeadline()
            services.committer.close()
            group.cancelAll()
        }
        services.requests.close()
        if let failure = dispatcher.read(\.failure) { throw failure }
        if let failure = services.committer.failure { throw failure }
    }

    /// Notices within a second when the spool is paused or disabled, until cancelled.
    private func obeyControl() async {
        while true {
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
            if let control = try? spool.control.read(), control.stopsSending { dispatcher.stop(.paused) }
        }
    }

    private func runUntilDeadline() async {
        guard let deadline = options.timeLimit else { return await runRounds() }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.runRounds()
                return false
            }
            group.addTask {
                try? await Task.sleep(for: deadline)
                return !Task.isCancelled
            }
            if await group.next() == true { dispatcher.stop(.timeLimit) }
            group.cancelAll()
        }
    }

    /// How long to wait for segments that another process has: its writer lets go of one within milliseconds of its publication. Another uploader
    /// may need minutes. In strict order nothing else can be done meanwhile.
    private var takenPatience: Duration { options.order == .strict ? .seconds(1) : .milliseconds(100) }
    private static let takenLook = Duration.milliseconds(20)
    /// How long to wait, in all, for files that were just copied in: a little longer than one of them needs, for those that came with it.
    private static let copyPatience = ForeignFile.quietPeriod + .seconds(1)

    /// Sends what was found, and what becomes critical meanwhile.
    private func work(off listing: SpoolListing) async {
        await withTaskGroup(of: Void.self) { [workers, dispatcher, services] group in
            group.addTask { [watch = CriticalWatch(spool, services.arrivals, knowing: listing)] in
                var watch = watch
                await watch.run { names in
                    let found = names.compactMap { (try? services.find($0)) ?? nil }
                    dispatcher.change { $0.appeared(found, in: 0) }
                }
            }
            await withTaskGroup(of: Void.self) { group in
                for place in workplaces {
                    group.addTask(executorPreference: place.executor) { await workers.work(on: place.eventLoop) }
                }
            }
            group.cancelAll()
        }
    }

    private func runRounds() async {
        var copyPatience = Self.copyPatience
        var isFirst = true
        var takenPatience = takenPatience
        while true {
            let listing: SpoolListing
            // What others had may be free now.
            if options.order == .strict {
                let later = now() + Contention.longestPatience
                dispatcher.change { $0.queues[0].wake(at: later) }
            }
            do throws(FileError) {
                services.restoreRequests(in: spool)
                services.arrivals?.begin()
                listing = try spool.scan(sizes: options.timeLimit != nil)
                _ = spool.housekeeping.cleanUp(listing)
                if isFirst { for line in listing.flawedNames().lines { services.onEvent(.warning(line)) } }
                isFirst = false
                leftovers.withLock { $0.others = listing.others }
                let exported = spool.exports.names(
                    in: listing, of: try services.travel.read(spool, listing, stateChanges: services.arrivals?.stateChanges))
                dispatcher.change { $0.queues[0].begin(listing, except: exported) }
            } catch {
                return dispatcher.fail(error, queue: 0)
            }
            await work(off: listing)
            dispatcher.endRound()
            await services.committer.flush()
            let summary = dispatcher.read { $0.queues[0].summary }
            if dispatcher.read(\.plan.stopReason) != nil { return }
            if summary.ended > 0 {
                takenPatience = self.takenPatience
                // What ended has made room for what could not be split.
                let later = now() + OutcomeRecorder.roomPatience
                dispatcher.change { $0.queues[0].wakeFirst(options.parallel, dueBy: later) }
                continue
            }
            if await finishLeftovers() { continue }
            if summary.taken > 0, takenPatience > .zero {
                try? await Task.sleep(for: Self.takenLook)
                takenPatience -= Self.takenLook
                continue
            }
            if options.order == .strict, summary.taken > 0 { return dispatcher.stop(.headWaits) }
            // Files that were just copied in are ready in a moment: after a copy one upload is enough.
            guard let readyAt = summary.readyAt else { return }
            let wait = readyAt - now()
            guard wait <= copyPatience else {
                if options.order == .strict { dispatcher.stop(.headWaits) }
                return
            }
            copyPatience -= max(wait, Self.takenLook)
            try? await Task.sleep(for: wait)
        }
    }
}
