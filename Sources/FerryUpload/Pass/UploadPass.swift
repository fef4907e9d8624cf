public import FerrySpool
import NIOCore
import NIOPosix

/// Why an upload could not be made at all.
public enum UploadError: Error, CustomStringConvertible {
    case file(FileError)
    case transport(TransportSetupError)

    public var description: String {
        switch self {
        case .file(let error): error.description
        case .transport(let error): error.description
        }
    }
}

/// One upload of everything that is due in a spool.
///
/// The folder is scanned, sent in order by a few workers, and scanned again until a scan finds nothing more to do.
public final class UploadPass: Sendable {
    private let spool: Spool
    private let options: UploadOptions
    private let now: @Sendable () -> Timestamp
    private let onEvent: @Sendable (UploadEvent) -> Void
    private let dispatcher: Dispatcher
    private let settler: Settler
    private let bookkeeper: Bookkeeper
    private let connector: Connector
    private let template: RequestTemplate
    /// One for each worker.
    private let workplaces: [(eventLoop: any EventLoop, executor: LoopExecutor)]

    /// - Parameters:
    ///   - now: The wall clock.
    ///   - onEvent: Called as things happen, from any thread.
    public init(
        _ spool: Spool, options: UploadOptions, now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        onEvent: @escaping @Sendable (UploadEvent) -> Void = { _ in }
    ) throws(UploadError) {
        self.spool = spool
        self.options = options
        self.now = now
        self.onEvent = onEvent
        settler = Settler(spool: spool, onEvent: onEvent)
        bookkeeper = Bookkeeper(spool: spool, options: options, settler: settler, now: now, onEvent: onEvent)
        template = RequestTemplate(options)
        workplaces = (0..<max(1, options.parallel)).map { _ in
            let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            return (eventLoop, LoopExecutor(eventLoop))
        }
        do throws(TransportSetupError) {
            connector = try Connector(
                options: options.transport,
                usesTLS: options.destination.origin.isSecure)
        } catch {
            throw .transport(error)
        }
        do throws(FileError) {
            let health = try DestinationHealth(spool: spool, options: options) { onEvent(.warning("\($0)")) }
            dispatcher = Dispatcher(
                PassState(spool: spool, options: options, health: health, bookkeeper: bookkeeper, now: now))
        } catch {
            throw .file(error)
        }
    }

    /// Starts nothing more; what is under way is finished. Cancelling the task that runs the pass cuts that off as well.
    public func stop() { dispatcher.stop(.interrupted) }

    /// Runs the pass.
    public func run() async throws(UploadError) -> UploadReport {
        do throws(FileError) {
            var report = try prepare()
            // A destination that is not due is left alone, whoever calls.
            if !options.ignoresWaits, let until = dispatcher.destinationWaitsUntil(now: now()) {
                report.destinationWaitsUntil = until
                report.remaining = try spool.scan().entries.count
                return report
            }
            try await send()
            let sent = settler.report
            report.sent = sent.sent
            report.sentEvents = sent.sentEvents
            report.rejected = sent.rejected
            report.split = sent.split
            report.stopReason = dispatcher.stopReason
            report.destinationWaitsUntil = dispatcher.destinationWaitsUntil(now: now())
            // The last round of a pass that was not stopped ended nothing: its listing is what is there.
            report.remaining = report.stopReason == nil ? dispatcher.remaining : try spool.scan().entries.count
            return report
        } catch {
            throw .file(error)
        }
    }

    private func prepare() throws(FileError) -> UploadReport {
        var report = UploadReport()
        report.retention = try spool.applyRetention(options.retention) { [onEvent] in onEvent(.warning("\($0)")) }
        return report
    }

    private func send() async throws(FileError) {
        await withTaskGroup(of: Void.self) { group in
            // With the second worker: of three on two event loops it has its own for itself.
            group.addTask(executorPreference: workplaces[min(1, workplaces.count - 1)].executor) { [settler] in
                await settler.run()
            }
            await runUntilDeadline()
            settler.close()
        }
        if let failure = dispatcher.failure { throw failure }
        if let failure = settler.failure { throw failure }
    }

    private func runUntilDeadline() async {
        guard let deadline = options.deadline else { return await runRounds() }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await self.runRounds()
                return false
            }
            group.addTask {
                try? await Task.sleep(for: deadline)
                return !Task.isCancelled
            }
            if await group.next() == true { dispatcher.stop(.deadline) }
            group.cancelAll()
        }
    }

    private func runRounds() async {
        var hasWaited = false
        while true {
            do throws(FileError) {
                let listing = try spool.scan()
                _ = try spool.cleanUp(listing)
                dispatcher.begin(listing)
            } catch {
                return dispatcher.fail(error)
            }
            await withTaskGroup(of: Void.self) { group in
                for (eventLoop, executor) in workplaces {
                    group.addTask(executorPreference: executor) { await self.work(on: eventLoop) }
                }
            }
            dispatcher.endRound()
            await settler.flush()
            let tally = dispatcher.tally
            if dispatcher.stopReason != nil { return }
            if tally.ended > 0 { continue }
            // Files that were just copied in are ready in a moment: whoever copies and uploads need not call twice.
            guard let settlesAt = tally.settlesAt, !hasWaited, settlesAt - now() <= ForeignFile.quietPeriod else { return }
            hasWaited = true
            try? await Task.sleep(for: settlesAt - now())
        }
    }

    /// One worker: one connection, one segment at a time.
    private func work(on eventLoop: any EventLoop) async {
        var courier = Courier(connector: connector, eventLoop: eventLoop, template: template, now: now)
        var next = await dispatcher.next()
        while let job = next {
            do throws(FileError) {
                next = try await handle(job, &courier)
            } catch {
                dispatcher.fail(error)
                dispatcher.skip(job, .waits)
                next = nil
            }
        }
    }

    /// Does what is to be done with one segment, and returns the next.
    private func handle(_ job: Dispatcher.Job, _ courier: inout Courier) async throws(FileError) -> Dispatcher.Job? {
        switch await prepare(job) {
        case .ready(let segment):
            let verdict = await courier.deliver(segment.facts, segment.body, attempt: segment.attempt)
            if case .tooLarge = verdict { try await bookkeeper.split(segment.claim, attempts: segment.attempt, verdict) }
            if settler.isFull { await settler.waitForRoom() }
            dispatcher.finish(job, segment, verdict)
        case .damaged(let claim, let damage, let kind, let attempts):
            try bookkeeper.reject(claim, damage, kind: kind, attempts: attempts)
            dispatcher.skip(job, .ended)
        case .halfSplit(let claim):
            try await bookkeeper.split(claim, attempts: 0, nil)
            dispatcher.skip(job, .ended)
        case .waits: dispatcher.skip(job, .waits)
        case .settles(let until): dispatcher.skip(job, .settles(until: until))
        case .taken: dispatcher.skip(job, .taken)
        case .unusable(let error):
            onEvent(.warning("\(error); the segment is left alone"))
            dispatcher.skip(job, .waits)
        }
        return await dispatcher.next()
    }

    private func prepare(_ job: Dispatcher.Job) async -> Preparation {
        let preparer = Preparer(spool: spool, options: options) { [onEvent] in onEvent(.warning($0)) }
        let time = now()
        // Looking at headers takes microseconds, inflating a whole file may take seconds.
        let isQuick = options.verification != .always && !job.isForeign
        let prepare: @Sendable () -> Preparation = { preparer.prepare(job, now: time) }
        return isQuick ? prepare() : await blocking(prepare)
    }
}
