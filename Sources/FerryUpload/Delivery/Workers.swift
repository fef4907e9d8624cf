import FerrySpool
import Glibc
import NIOCore
import NIOPosix

/// Where a worker and its connection live.
struct Workplace: Sendable {
    let eventLoop: any EventLoop
    let executor: LoopExecutor

    static func make(_ count: Int) -> [Workplace] {
        (0..<max(1, count)).map { _ in
            let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            return Workplace(eventLoop: eventLoop, executor: LoopExecutor(eventLoop))
        }
    }
}

/// What the workers of a delivery share. A worker has one connection and makes one request at a time.
struct Workers: Sendable {
    let dispatcher: Dispatcher
    let connector: Connector
    let template: RequestTemplate
    let options: UploadOptions
    let now: @Sendable () -> Timestamp
    let network = NetworkGeneration()
    private let onRequest: @Sendable (Duration) -> Void

    /// - Parameter onRequest: Called with the time that each answered request took.
    init(
        _ dispatcher: Dispatcher, options: UploadOptions, now: @escaping @Sendable () -> Timestamp,
        onRequest: @escaping @Sendable (Duration) -> Void = { _ in }
    ) throws(UploadError) {
        self.dispatcher = dispatcher
        self.onRequest = onRequest
        self.options = options
        self.now = now
        template = RequestTemplate(options)
        do throws(TransportSetupError) {
            connector = try Connector(
                options: options.transport, usesTLS: options.destination.origin.isSecure,
                bandwidth: options.bandwidth?.limit(at: now()))
        } catch {
            throw .transport(error)
        }
    }

    /// Works until the dispatcher has nothing left to do.
    func work(on eventLoop: any EventLoop) async {
        var courier = Courier(connector: connector, eventLoop: eventLoop, template: template, now: now)
        while let job = await dispatcher.next() { await handle(job, &courier) }
    }

    /// Keeps to the bandwidth of the time of day, until cancelled.
    func followTimetable() async {
        while let bandwidth = options.bandwidth {
            connector.throttle.limit = bandwidth.limit(at: now())
            guard let change = bandwidth.nextChange(after: now()) else { return }
            // Not for hours at once: the wall clock may be set meanwhile.
            do { try await Task.sleep(for: min(change - now(), .seconds(60))) } catch { return }
        }
    }

    /// Makes one request, or finds that nothing of it can be sent.
    private func handle(_ job: Dispatcher.Job, _ courier: inout Courier) async {
        var ready: [(item: Dispatcher.Item, segment: PreparedSegment)] = []
        for item in job.items {
            do throws(FileError) {
                if let segment = try await prepare(item, of: job) { ready.append((item, segment)) }
            } catch {
                dispatcher.skip(item, of: job, .waits(until: nil))
                dispatcher.fail(error, lane: job.lane)
            }
        }
        guard !ready.isEmpty else { return dispatcher.abandon(job) }
        var job = Dispatcher.Job(id: job.id, lane: job.lane, tools: job.tools, items: ready.map(\.item))
        var segments = ready.map(\.segment)
        var outcome = await send(segments, &courier)
        if segments.count > 1, outcome.verdict.isAboutSegments {
            // Together they were refused, or failed: which of them is to blame shows one by one.
            job = dispatcher.breakUp(job, job.items)
            segments = [segments[0]]
            outcome = await send(segments, &courier)
        }
        if case .tooLarge = outcome.verdict, segments[0].claim.isUnchanged {
            do throws(FileError) {
                outcome.postponedUntil = try await job.tools.bookkeeper.split(
                    segments[0].claim, attempts: segments[0].attempt, outcome.verdict, sidecar: segments[0].sidecar)
            } catch {
                dispatcher.fail(error, lane: job.lane)
            }
        }
        if job.tools.settler.isFull { await job.tools.settler.waitForRoom() }
        dispatcher.finish(job, segments, outcome)
    }

    private func send(_ segments: [PreparedSegment], _ courier: inout Courier) async -> Courier.Outcome {
        let body: RequestBody
        do throws(FileError) {
            body = try .joined(segments.map(\.body))
        } catch {
            return Courier.Outcome(verdict: Verdict(.fileChanged))
        }
        let generation = network.current
        var outcome = await courier.deliver(.init(facts: segments.map(\.facts), body: body, attempt: segments[0].attempt))
        if outcome.latency != nil, let duration = outcome.duration { onRequest(duration) }
        if outcome.latency == nil, generation != network.current, let reason = outcome.verdict.reason {
            outcome.verdict = .withdrawn(reason)
        }
        return outcome
    }

    /// Claims a segment and looks at it. Returns `nil` when it is not to be sent now.
    private func prepare(_ item: Dispatcher.Item, of job: Dispatcher.Job) async throws(FileError) -> PreparedSegment? {
        switch await look(at: item, job.tools) {
        case .ready(let segment): return segment
        case .damaged(let claim, let fault, let attempts):
            try job.tools.bookkeeper.reject(claim, fault, attempts: attempts)
            dispatcher.skip(item, of: job, .ended)
        case .halfSplit(let claim):
            let postponed = try await job.tools.bookkeeper.split(claim, attempts: 0, nil)
            dispatcher.skip(item, of: job, postponed.map { .waits(until: $0) } ?? .ended)
        case .waits(let until): dispatcher.skip(item, of: job, .waits(until: until))
        case .settles(let until): dispatcher.skip(item, of: job, .settles(until: until))
        case .taken, .needsInflating: dispatcher.skip(item, of: job, .taken)
        case .gone: dispatcher.skip(item, of: job, .ended)
        case .unusable(let error):
            job.tools.onEvent(.warning("\(error); the segment is left alone"))
            dispatcher.skip(item, of: job, .unusable(error))
            // Without locks no segment can be sent; one that NFS does not lock because it may not be written is that one's problem.
            if error.isLocking, error.code != EBADF { dispatcher.fail(error, lane: job.lane) }
        }
        return nil
    }

    private func look(at item: Dispatcher.Item, _ tools: LaneTools) async -> Preparation {
        let preparer = Preparer(spool: tools.spool, options: options) { tools.onEvent(.warning($0)) }
        let time = now()
        // Looking at headers takes microseconds, inflating a whole file may take seconds.
        if options.verification != .always, !item.entry.isForeign {
            let preparation = preparer.prepare(item, now: time, inflates: false)
            guard case .needsInflating = preparation else { return preparation }
        }
        return await blocking { preparer.prepare(item, now: time, inflates: true) }
    }
}

extension Verdict {
    /// Whether the same request with other segments might have had another answer.
    fileprivate var isAboutSegments: Bool {
        switch self {
        case .refused, .tooLarge, .doubtful: true
        case .delivered, .unwell, .misconfigured, .moved, .withdrawn: false
        }
    }
}
