import FerrySpool
import Glibc
import NIOCore
import NIOPosix

/// Where a worker and its connection live.
struct WorkerLoop: Sendable {
    let eventLoop: any EventLoop
    let executor: LoopExecutor

    static func make(_ count: Int) -> [WorkerLoop] {
        (0..<max(1, count)).map { _ in
            let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
            return WorkerLoop(eventLoop: eventLoop, executor: LoopExecutor(eventLoop))
        }
    }
}

/// What the workers of a delivery share. A worker has one connection and makes one request at a time.
final class Workers: Sendable {
    let dispatcher: Dispatcher
    let connector: Connector
    let template: RequestHead
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
        template = RequestHead(options)
        do throws(TransportSetupError) {
            connector = try Connector(
                options: options.transport, home: options.destination.url.origin,
                bandwidth: options.bandwidth?.limit(at: now()))
        } catch {
            throw .transport(error)
        }
    }

    /// Works until the dispatcher has nothing left to do.
    func work(on eventLoop: any EventLoop) async {
        var sender = RequestSender(connector: connector, eventLoop: eventLoop, template: template, now: now)
        while let job = await dispatcher.next() {
            let early = EarlyWork.begin()
            await handle(job, &sender)
            _ = consume early
        }
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
    private func handle(_ job: Assignment, _ sender: inout RequestSender) async {
        var ready: [(item: QueuedSegment, segment: PreparedSegment)] = []
        var looksAgain = options.cuts != nil && job.items.count > 1 ? Self.looksAgain : 0
        var isOneTaken = false
        var isScarce = false
        for (index, item) in job.items.enumerated() {
            var isPassed = false
            var isFilled = false
            do throws(FileError) {
                switch try await prepare(item, of: job, &looksAgain) {
                case .ready(let segment):
                    // Its process may have died since it was listed: what is put back goes out as what it was.
                    ready.append((item.knowing(segment.sidecar), segment))
                    isScarce = DescriptorNumbers.areScarce(beside: segment.claim.file)
                    // Other connections take what follows, or it comes when fewer files are open. What is repeated as it was stays together.
                    let isEnough =
                        if let limits = options.cuts { options.parallel > 1 && isEnough(ready.map(\.segment), for: limits) } else
                        {
                            isScarce && segment.sidecar?.request == nil
                        }
                    if isEnough {
                        dispatcher.putBack(job.items[(index + 1)...], of: job)
                        isFilled = true
                    }
                case .ended: break
                case .taken, .waitsForRequest: (isPassed, isOneTaken) = (true, true)
                case .waits: isPassed = true
                }
            } catch {
                dispatcher.skip(item, of: job, .waits(until: nil))
                dispatcher.fail(error, job)
                isPassed = true
            }
            // Nothing passes what must wait.
            if isFilled { break }
            if isPassed, options.order == .strict {
                dispatcher.putBack(job.items[(index + 1)...], of: job)
                break
            }
        }
        if isNoted(ready.map(\.segment)), await restoreLeft(&ready, of: job) { return }
        leaveTorn(&ready, of: job, isOneTaken: isOneTaken)
        let isMoreWaiting = keepFitting(&ready, of: job)
        guard !ready.isEmpty else { return dispatcher.abandon(job) }
        var job = job.with(ready.map(\.item))
        var segments = ready.map(\.segment)
        // What is repeated as it was, or took long to prepare.
        guard job.items.count == 1 || dispatcher.mayStart(job) else {
            dispatcher.putBack(job.items, of: job)
            return dispatcher.abandon(job)
        }
        if let limits = options.cuts ?? limitsOfRest(segments, job.services) {
            return await sendParts(of: job, segments, limits, isMoreWaiting: isMoreWaiting, &sender)
        }
        var outcome = await send(segments, job.services, &sender)
        // A receiver that takes joined segments knows each of them by its own key. For others they have another one alone: what may have arrived
        // together is asked for as it was.
        let isKnownByRequest = segments.count > 1 && dispatcher.read { $0.acceptedJoined == nil }
        let isKept = isKnownByRequest && options.repeatsWhole && outcome.verdict.isRetryable
        if isKnownByRequest, !isKept, outcome.verdict.isDoubtful {
            let first = outcome
            outcome = await send(segments, job.services, &sender)
            outcome.follows(first)
        }
        if segments.count > 1, !options.repeatsWhole { outcome.resolveDoubt(segments[0].sidecar) }
        if segments.count > 1, !isKept, outcome.verdict.isAboutSegments {
            // Together they were refused, or failed: which of them is to blame shows one by one.
            noteArrival(of: &segments, outcome, job)
            for segment in segments { segment.claim.keep(nil) }
            job = dispatcher.breakUp(job, job.items, outcome.verdict, noted: segments.prefix { $0.sidecar != nil }.count)
            segments = [segments[0]]
            outcome = await send(segments, job.services, &sender)
        }
        if outcome.trace.departure == .part { dispatcher.sendAlone(job) }
        do throws(FileError) {
            if case .tooLarge = outcome.verdict, segments[0].claim.isUnchanged {
                outcome.postponedUntil = try await job.services.recorder.split(
                    segments[0].claim, attempts: segments[0].attempt, outcome.verdict, sidecar: segments[0].sidecar)
            } else if segments.count == 1, let reason = outcome.verdict.reason,
                try await job.services.recorder.splitIfBroken(segments[0], outcome)
            {
                outcome.verdict = .brokenOff(reason)
            }
        } catch {
            dispatcher.fail(error, job)
        }
        if case .delivered = outcome.verdict { segments[0].claim.noteArrival() }
        if isScarce { await job.services.committer.flush() }
        if job.services.committer.isFull { await job.services.committer.waitForRoom() }
        noteBrokenOff(&segments, &outcome, job)
        if outcome.trace.isWithinSpool { dispatcher.noteLanes(outcome, of: job) }
        dispatcher.finish(job, segments, outcome)
    }

    /// Notes that a joined request broke off: that was no try of any of its segments.
    func noteBrokenOff(_ segments: inout [PreparedSegment], _ outcome: inout RequestOutcome, _ job: Assignment) {
        guard segments.count > 1, [.beginning, .part].contains(outcome.trace.departure) else { return }
        // Of what broke off each time its last segment cannot have arrived.
        let wasWhole = segments.last?.sidecar.map { $0.isInterrupted || $0.request != nil && $0.broken == nil } ?? false
        if options.repeatsWhole, !wasWhole, case .withdrawn(let reason) = outcome.verdict, reason.kind == "stopped" {
            // It never arrived, and made again as it was it would be cut off each time.
            (outcome.request, outcome.requestEvents) = (nil, nil)
        }
        noteArrival(of: &segments, outcome, job)
        outcome.trace.departure = .nothing
    }

    /// Looks whether a process has died in the middle of a request since the segments were listed: they may be of it. Then they are put back, to be
    /// taken again as its notes say.
    private func restoreLeft(
        _ ready: inout [(item: QueuedSegment, segment: PreparedSegment)], of job: Assignment
    ) async -> Bool {
        guard let spool = try? job.services.lease.spool() else { return false }
        // A process that died after this look has had none of them.
        let left = await job.services.requests.left(in: spool, holding: ready.map(\.segment))
        if left.isEmpty { return false }
        let items = ready.map(\.item)
        ready = []
        let services = job.services
        let tried: Set<String> = await blocking {
            services.restoreRequests(in: spool)
            return Set(items.map(\.name).filter { (try? spool.sidecars.read(of: $0)) != nil })
        }
        dispatcher.putBack(items.filter { tried.contains($0.name) }, of: job, noted: tried.count)
        dispatcher.putBack(items.filter { !tried.contains($0.name) }, of: job)
        dispatcher.gathered(job)
        dispatcher.abandon(job)
        return true
    }

    /// Puts back what has no room in the job's requests, or would leave the last of them short while more follows.
    ///
    /// - Returns: Whether more follows that the last request could take.
    private func keepFitting(
        _ ready: inout [(item: QueuedSegment, segment: PreparedSegment)], of job: Assignment
    ) -> Bool {
        guard job.items.count > 1 else { return false }
        let others = keepTogether(&ready)
        let fitting = JoinedRequest.fitting(ready.lazy.map(\.segment.facts.trail))
        let isMoreWaiting = job.job.isFull || fitting < ready.count || !others.isEmpty
        var kept = fitting
        if let most = options.cuts?.events, isMoreWaiting, ready.first?.segment.lastRequest == nil {
            kept = Self.filling(ready[..<fitting].map { $0.segment.facts.events ?? 1 }, requestsOf: most)
        }
        if options.cuts == nil, ready.first?.segment.lastRequest == nil, !mayNote(ready[..<kept].map(\.segment), job.services) {
            kept = 1
        }
        let left = ready[kept...].map(\.item) + others
        ready.removeSubrange(kept...)
        if !left.isEmpty { dispatcher.putBack(left, of: job) }
        dispatcher.gathered(job)
        return isMoreWaiting
    }

    /// Leaves for later what went out in one request with a segment that another one has, or may have: without that it would have another key.
    private func leaveTorn(
        _ ready: inout [(item: QueuedSegment, segment: PreparedSegment)], of job: Assignment, isOneTaken: Bool
    ) {
        let requests = ready.compactMap { request($0.segment) }
        if requests.isEmpty { return }
        let counts = Dictionary(requests.map { ($0, 1) }, uniquingKeysWith: +)
        let torn = counts.filter { request, count in (JoinedRequest.count(ofKey: request) ?? 1) > count }
        let names = ready.map(\.item.name)
        guard !torn.isEmpty,
            dispatcher.mayGetBack(Set(torn.keys), beside: names, of: job, isOneTaken: isOneTaken)
        else { return }
        let isTorn = { (segment: PreparedSegment) in self.request(segment).map { torn[$0] != nil } ?? false }
        // Nothing passes what must wait.
        let end = options.order == .strict ? ready.firstIndex { isTorn($0.segment) } ?? ready.endIndex : ready.endIndex
        let behind = ready[end...].filter { !isTorn($0.segment) }.map(\.item)
        for (item, segment) in ready {
            if let request = request(segment), torn[request] != nil { dispatcher.skip(item, of: job, .torn(request: request)) }
        }
        ready = ready[..<end].filter { !isTorn($0.segment) }
        if !behind.isEmpty { dispatcher.putBack(behind, of: job) }
    }

    /// Takes out what was not tried in one request with the first segment: what is repeated as it was has the key that it had, which a server may
    /// know already.
    private func keepTogether(_ ready: inout [(item: QueuedSegment, segment: PreparedSegment)]) -> [QueuedSegment] {
        guard let first = ready.first.map({ request($0.segment) }) else { return [] }
        if options.order == .strict, first == nil {
            // Nothing passes what was tried.
            let kept = ready.prefix { request($0.segment) == nil }.count
            defer { ready.removeSubrange(kept...) }
            return ready[kept...].map(\.item)
        }
        let others = ready.filter { request($0.segment) != first }.map(\.item)
        if !others.isEmpty { ready.removeAll { request($0.segment) != first } }
        return others
    }

    /// Returns the key of the request that a segment is to be repeated in as it was; `nil`: it may go out with others. Where what failed is tried one
    /// by one, only what has had no outcome is repeated so.
    private func request(_ segment: PreparedSegment) -> String? {
        guard let sidecar = segment.sidecar, options.canRepeat(sidecar) else { return nil }
        return options.repeatsWhole ? segment.lastRequest : segment.interruptedRequest
    }

    /// Notes which segments of a joined request may have arrived whole, after any answer: a receiver may store the first ones before
    /// it refuses one behind them, or the rest has come. When the body did not go out whole, it cannot have the last one's end.
    func noteArrival(of segments: inout [PreparedSegment], _ outcome: RequestOutcome, _ job: Assignment) {
        guard outcome.trace.departure != .nothing else { return }
        let arrived = segments.count - (outcome.trace.departure == .whole ? 0 : 1)
        var outcome = outcome
        outcome.trace.departure = .whole
        for index in segments.indices.prefix(arrived) {
            do throws(FileError) {
                let noted = try job.services.recorder.noteDeparture(of: segments[index], outcome)
                segments[index].sidecar = noted ?? segments[index].sidecar
            } catch {
                dispatcher.fail(error, job)
            }
        }
    }

    private func send(_ segments: [PreparedSegment], _ services: SpoolServices, _ sender: inout RequestSender) async
        -> RequestOutcome
    {
        if let problem = template.followSecrets() { services.onEvent(.warning(problem)) }
        guard let (body, digest) = await body(of: segments) else { return RequestOutcome(verdict: Verdict(.fileChanged)) }
        var outgoing = OutgoingRequest(facts: segments.map(\.facts), body: body, attempt: segments[0].attempt, digest: digest)
        if template.direct != nil, let spool = try? services.lease.spool() { outgoing.source = (spool, segments.map(\.claim)) }
        note(outgoing, of: segments, services)
        return await deliver(outgoing, services, &sender)
    }

    /// Returns whether segments fill requests, and leave nothing that would have to go out with what follows them. What is repeated is no more than
    /// it was.
    private func isEnough(_ segments: [PreparedSegment], for limits: RequestLimits) -> Bool {
        guard let most = limits.events, segments.first.flatMap(request) == nil else { return false }
        let fresh = options.repeatsWhole ? segments.filter { $0.lastRequest == nil } : segments
        let events = fresh.reduce(0 as Int64) { $0.adding($1.facts.events ?? 1) }
        return events > 0 && events % most == 0
    }

    /// Returns how many of the first segments have all events of the full requests; all of them if they fill none.
    ///
    /// - Parameter events: Of each segment.
    static func filling(_ events: [Int64], requestsOf most: Int64) -> Int {
        let total = events.reduce(0 as Int64) { $0.adding($1) }
        let full = total - total % most
        guard full > 0 else { return events.count }
        var sum: Int64 = 0
        return
            (events.firstIndex { count in
                sum = sum.adding(count)
                return sum >= full
            }).map { $0 + 1 } ?? events.count
    }

    /// Notes a request that another process could not make again by itself.
    ///
    /// - Parameter events: As many as it carries, where its segments go out in requests of a bounded size.
    func note(_ outgoing: OutgoingRequest, of segments: [PreparedSegment], events: Int64? = nil, _ services: SpoolServices) {
        guard isNoted(segments) else { return }
        services.requests.note(outgoing, of: segments, events: events, to: services.recorder.destinationID, at: now())
    }

    /// Returns whether there is room for what another process needs to make a request again as it was: a sidecar for each segment. Where there is
    /// not, each goes out under its own key.
    private func mayNote(_ segments: [PreparedSegment], _ services: SpoolServices) -> Bool {
        guard segments.count > 1, isNoted(segments), let spool = try? services.lease.spool() else { return true }
        return spool.room.suffices(for: .kibibytes(Int64(segments.count) * 4 + 64))
    }

    private func isNoted(_ segments: [PreparedSegment]) -> Bool {
        !segments.isEmpty && RequestNoting.isNeeded(segments, options, accepted: dispatcher.read(\.acceptedJoined))
    }

    func deliver(
        _ outgoing: OutgoingRequest, _ services: SpoolServices, _ sender: inout RequestSender
    ) async -> RequestOutcome {
        let generation = network.current
        var outcome = await sender.deliver(outgoing)
        if outcome.trace.isWithinSpool {
            noteLanes(&outcome, services)
        } else if let notice = outcome.trace.notice {
            services.onEvent(.warning(notice))
        }
        if outcome.trace.latency != nil, let duration = outcome.duration { onRequest(duration) }
        if outcome.trace.latency == nil, generation != network.current, let reason = outcome.verdict.reason {
            outcome.verdict = .withdrawn(reason)
        }
        return outcome
    }

    /// Takes lanes that cannot be used as the trouble of their spool, which is held, and not of a destination. A single pass over one spool ends with it.
    private func noteLanes(_ outcome: inout RequestOutcome, _ services: SpoolServices) {
        switch outcome.verdict {
        case .delivered:
            guard let remark = outcome.trace.remark, services.laneNotices.isNew(remark) else { return }
            services.onEvent(.warning(outcome.trace.notice ?? remark))
        case .unavailable(let reason, _), .misconfigured(let reason):
            guard dispatcher.read({ $0.isContinuous || $0.queues.count > 1 }) else { return }
            outcome.trace.laneTrouble = reason.message
            outcome.verdict = .circling(reason)
        default: break
        }
    }

    /// Returns the body of one request, and its digest where the destination wants one; `nil` when a file has become shorter.
    private func body(of segments: [PreparedSegment]) async -> (RequestBody, BodyDigest?)? {
        if template.direct?.takesFiles ?? false { return (segments[0].body, nil) }
        let bodies = segments.map(\.body)
        let signs = template.kind.signsBody
        @Sendable func read() -> (RequestBody, BodyDigest?)? {
            guard let body = try? RequestBody.joined(bodies) else { return nil }
            guard signs else { return (body, nil) }
            return (try? body.digest()).map { (body, $0) }
        }
        return bodies.contains(where: \.isFile) && (bodies.count > 1 || signs) ? await blocking(read) : read()
    }

    /// What came of looking at a segment.
    private enum Readiness {
        case ready(PreparedSegment)
        /// It ended without the destination.
        case ended
        /// Another one has it.
        case taken
        /// It is not to be sent now.
        case waits
        /// Neither is it, and others belong to its request.
        case waitsForRequest
    }

    /// How often a job looks again at what others have: a writer lets go of a segment within milliseconds of its publication, and the request would
    /// go out short without it.
    private static let looksAgain = 3
    private static let lookPause = Duration.milliseconds(2)

    /// Claims a segment and looks at it.
    private func prepare(
        _ item: QueuedSegment, of job: Assignment, _ looksAgain: inout Int
    ) async throws(FileError) -> Readiness {
        var preparation = await look(at: item, of: job)
        while looksAgain > 0, case .taken = preparation {
            looksAgain -= 1
            // Cancelled, it looks at once.
            try? await Task.sleep(for: Self.lookPause)
            preparation = await look(at: item, of: job)
        }
        switch preparation {
        case .ready(let segment): return .ready(segment)
        case .damaged(let claim, let fault, let attempts):
            let postponed = try job.services.recorder.reject(claim, fault, attempts: attempts)
            dispatcher.skip(item, of: job, postponed.map { .waits(until: $0) } ?? .ended)
            return postponed == nil ? .ended : .waits
        case .halfSplit(let claim):
            let postponed = try await job.services.recorder.split(claim, attempts: 0, nil)
            dispatcher.skip(item, of: job, postponed.map { .waits(until: $0) } ?? .ended)
            return postponed == nil ? .ended : .waits
        case .gone, .travels:
            dispatcher.skip(item, of: job, .ended)
            return .ended
        case .waits(let until, let request):
            dispatcher.skip(item, of: job, .waits(until: until, request: request))
            if request != nil { return .waitsForRequest }
        case .beingWritten(let until):
            let request = job.services.sidecar(of: item.name).flatMap { options.repeatedRequest(of: $0) }
            dispatcher.skip(item, of: job, .beingWritten(until: until, request: request))
            if request != nil { return .waitsForRequest }
        case .taken, .needsInflating:
            let sidecar = item.entry.hasSidecar ? job.services.sidecar(of: item.name) : nil
            dispatcher.skip(item, of: job, .taken(request: sidecar.flatMap { options.repeatedRequest(of: $0) }))
            return .taken
        case .unusable(let error):
            job.services.onEvent(.warning("\(error); the segment is left alone"))
            dispatcher.skip(item, of: job, .unusable(error))
            // Without locks no segment can be sent; one that NFS does not lock because it may not be written is that one's problem.
            if error.isLocking, error.code != EBADF { dispatcher.fail(error, job) }
        }
        return .waits
    }

    private func look(at item: QueuedSegment, of job: Assignment) async -> Preparation {
        let (spool, services): (Spool, SpoolServices)
        do throws(FileError) { (spool, services) = (try job.services.lease.spool(), job.services) } catch {
            return .unusable(error)
        }
        let time = now()
        // Who had it may have died in the middle of a request.
        if item.wasTaken {
            await blocking { services.restoreRequests(in: spool) }
        }
        if SegmentClaimer.isQuick(isForeign: item.entry.isForeign, options) {
            let preparation = services.claimer.prepare(item, in: spool, now: time, inflates: false)
            guard case .needsInflating = preparation else { return preparation }
        }
        return await blocking { services.claimer.prepare(item, in: spool, now: time, inflates: true) }
    }
}

extension PreparedSegment {
    /// The key of the request that what is left of it was tried in last; `nil` before its first try.
    fileprivate var lastRequest: String? {
        sidecar.flatMap { $0.attempts > 0 && !$0.isInParts ? $0.request ?? facts.idempotencyKey : nil }
    }

    /// The key of the request that its process died in; `nil`: it was in none.
    fileprivate var interruptedRequest: String? {
        sidecar.flatMap { $0.isInterrupted ? $0.request ?? facts.idempotencyKey : nil }
    }
}

extension Verdict {
    /// It may have arrived, or not.
    var isDoubtful: Bool {
        if case .doubtful = self { return true }
        return false
    }

    /// The same request may pass later.
    var isRetryable: Bool {
        switch self {
        case .doubtful, .circling, .unavailable: true
        case .delivered, .refused, .tooLarge, .misconfigured, .brokenOff, .moved, .withdrawn: false
        }
    }

    /// Whether the same request with other segments might have had another answer.
    var isAboutSegments: Bool {
        switch self {
        case .refused, .tooLarge, .doubtful, .circling: true
        case .delivered, .unavailable, .misconfigured, .brokenOff, .moved, .withdrawn: false
        }
    }
}
