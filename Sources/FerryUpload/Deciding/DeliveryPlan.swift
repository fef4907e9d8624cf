/// Decides what an upload pass does next and what the outcomes mean for the segments: no I/O, no clock.
///
/// Destination or segment? After a doubtful failure another segment goes out alone, as a probe. If anything passes, the earlier
/// failures were the segments' own; if everything that was under way and the probe fail too, the destination is to blame and the pass ends.
/// One that answers, pass after pass, that it failed gets twice as many probes each time: many segments may be poison to it, and few not.
///
/// A destination that says when to come back (`Retry-After`) is left alone until then. The next pass begins with a probe, so that one
/// segment that is always answered so holds up no other; and so does one after several that failed, whose heads of the line may be to blame.
package struct DeliveryPlan: Sendable {
    /// A number that the caller gives to each request of the pass.
    package typealias ID = Int

    /// What to do next.
    package enum Step: Equatable, Sendable {
        /// Send the next segment in order.
        case sendNext
        /// Send a segment that has been tried least, from anywhere in the line: its head, and what follows it, may be what is wrong.
        case sendProbe
        /// Wait for what is under way.
        case wait
        /// Nothing more is to be started.
        case stop
    }

    /// What an outcome means for a segment that was under way.
    package enum Judgement: Equatable, Sendable {
        /// The destination took it.
        case delivered(ID)
        /// The destination refused it for good: it is rejected.
        case refused(ID)
        /// It is too large for the destination or the link: it is replaced by its halves.
        case split(ID)
        /// Its own fault: it alone backs off.
        case segmentAtFault(ID)
        /// It failed, and nothing shows whether it or the destination is to blame.
        case undetermined(ID)
        /// The destination's fault: it waits for the destination.
        case destinationAtFault(ID)
        /// It was not tried, or not to an end.
        case untouched(ID)
    }

    /// In which order segments leave.
    package let order: SendOrder
    /// How failures are blamed on the destination or a segment.
    package let blame: FailureBlame
    /// Why the pass ends; `nil` while it goes on.
    package private(set) var stopReason: StopReason?
    private var ramp: ConcurrencyRamp
    private var underWay: Set<ID> = []
    private var suspects: [(id: ID, reason: Verdict.Reason)] = []
    /// How many of the suspects were probes.
    private var failedProbes = 0
    /// How many passes the destination ended before this one.
    let failures: Int
    private var probe: ID?
    /// Until the destination is seen to work, what has been tried least goes out.
    private let beginsWithProbe: Bool
    /// Whether the destination has been seen to work in this pass.
    package private(set) var isProvenWell = false
    /// How many have gone out before a head of the line that was tried often.
    private var spared = 0

    /// - Parameters:
    ///   - isRecovering: The destination failed last time: begin with one at a time.
    ///   - failures: How many passes the destination ended before this one.
    ///   - sparesHead: The head of the line may be to blame for what the destination did. In strict order it is tried again all the same.
    package init(
        order: SendOrder, parallel: Int, isRecovering: Bool, failures: Int = 0, sparesHead: Bool = false,
        blame: FailureBlame = .judged
    ) {
        self.failures = failures
        self.order = order
        self.blame = blame
        beginsWithProbe = sparesHead && order != .strict && blame == .judged
        ramp = ConcurrencyRamp(limit: order == .strict ? 1 : parallel, isRecovering: isRecovering)
    }

    /// How many requests may be under way now.
    package var window: Int { ramp.window }
    /// Whether something is under way.
    package var isBusy: Bool { !underWay.isEmpty }

    /// Returns what to do now.
    package func next() -> Step {
        if stopReason != nil { return .stop }
        if suspects.isEmpty, isProvenWell || !beginsWithProbe { return underWay.count < window ? .sendNext : .wait }
        return underWay.isEmpty ? .sendProbe : .wait
    }

    /// Returns whether another goes out before the next segment in order, of which no try had an outcome yet. Pass after pass the destination may
    /// take what is more urgent, fail at this one, and be gone for all that is behind it: of that 1, 2, 4, at last 8 go first.
    ///
    /// - Parameter attempts: How often the next segment was tried.
    package mutating func sparesNext(tried attempts: Int) -> Bool {
        guard failures > 0, order != .strict, blame == .judged, attempts >= Self.triesOfSpared,
            spared < 1 << min(attempts - Self.triesOfSpared, Self.mostSparedDoublings)
        else { return false }
        spared += 1
        return true
    }

    private static let triesOfSpared = 3
    private static let mostSparedDoublings = 3

    /// Notes that a request was started.
    ///
    /// - Parameter isProbe: As ``Step/sendProbe`` asked for.
    package mutating func start(_ id: ID, isProbe: Bool = false) {
        underWay.insert(id)
        if isProbe { probe = id }
    }

    /// Notes that a segment was not sent after all: not due, claimed by another process, gone, or ended without the destination.
    package mutating func skip(_ id: ID) { underWay.remove(id) }

    /// Starts nothing more.
    package mutating func stop(_ reason: StopReason) { stopReason = stopReason ?? reason }

    /// Notes the outcome of a request. Returns what is certain now, of this request and of earlier ones.
    ///
    /// - Parameters:
    ///   - latency: From the last byte of the request to the answer.
    ///   - tries: How often it has been tried, with this time.
    package mutating func finish(_ id: ID, _ verdict: Verdict, latency: Duration? = nil, tries: Int = 1) -> [Judgement] {
        underWay.remove(id)
        if case .eachRequest(let retries) = blame, let reason = verdict.retryableReason {
            ramp.failed()
            if tries > retries { stop(.off(reason)) }
            return [.segmentAtFault(id)]
        }
        switch verdict {
        case .delivered: return provenWell(latency) + [.delivered(id)]
        // A clear answer shows that the destination works.
        case .refused: return provenWell(latency) + [.refused(id)]
        case .tooLarge: return provenWell(latency) + [.split(id)]
        case .circling(let reason) where order == .strict: return doubt(id, reason)
        case .circling: return provenWell(latency) + [.segmentAtFault(id)]
        case .doubtful(let reason): return doubt(id, reason)
        // It shows nothing of the destination; the halves go out at once.
        case .brokenOff:
            ramp.failed()
            return concludeIfOver() + [.split(id)]
        case .unavailable(let reason, let retryAfter):
            // It was reached before: what that came to says more than that it is not there since, which the segment may be to blame for.
            let told = suspects.first.map { verdict.after($0.reason) } ?? verdict
            stop(.unavailable(told.reason ?? reason, retryAfter: retryAfter))
            // After the wait that the destination asked for it came back, another passed, and it was sent away again. It waits by itself, and
            // that is no failure of its own: a limit of requests a minute meets the one that is too many.
            let isOwn = retryAfter != nil && tries > 1 && isProvenWell && order != .strict
            return blameDestination() + [isOwn ? .undetermined(id) : .destinationAtFault(id)]
        case .misconfigured(let reason), .moved(_, let reason):
            stop(.misconfigured(reason))
            return blameDestination(as: Judgement.undetermined) + [.untouched(id)]
        case .withdrawn: return concludeIfOver() + [.untouched(id)]
        }
    }

    /// Judges what failed when no segment is left that could serve as a probe: several that failed show that it is the destination, a lone one stays
    /// undetermined.
    package mutating func exhausted() -> [Judgement] {
        guard underWay.isEmpty else { return [] }
        return concludeIfOver(isExhausted: true) + blameDestination(as: Judgement.undetermined)
    }

    private mutating func provenWell(_ latency: Duration?) -> [Judgement] {
        isProvenWell = true
        ramp.succeeded(latency)
        return blameDestination(as: Judgement.segmentAtFault)
    }

    private mutating func doubt(_ id: ID, _ reason: Verdict.Reason) -> [Judgement] {
        ramp.failed()
        if order == .strict {
            stop(.headWaits)
            return [.undetermined(id)]
        }
        suspects.append((id, reason))
        if probe == id { failedProbes += 1 }
        return concludeIfOver()
    }

    /// Blames the destination if two different segments failed, one of them a probe, and nothing is under way that could still pass.
    private mutating func concludeIfOver(isExhausted: Bool = false) -> [Judgement] {
        guard underWay.isEmpty, let last = suspects.last else { return [] }
        if suspects.count >= 2, isExhausted || failedProbes >= probes(after: last.reason), stopReason == nil {
            stop(.unavailable(last.reason, retryAfter: nil))
        }
        if case .unavailable = stopReason { return blameDestination() }
        return stopReason == nil ? [] : blameDestination(as: Judgement.undetermined)
    }

    /// Returns how many probes must fail. Where no answer comes each costs its timeout, and shows no more than the one before.
    private func probes(after reason: Verdict.Reason) -> Int {
        reason.status == nil ? 1 : 1 << min(max(failures, 0), Self.mostDoublings)
    }

    /// 64 probes: what a destination that answers each with an error has to bear in an hour, and as many poisoned segments as a pass gets over.
    private static let mostDoublings = 6

    private mutating func blameDestination(as judgement: (ID) -> Judgement = Judgement.destinationAtFault) -> [Judgement] {
        defer {
            suspects = []
            failedProbes = 0
        }
        return suspects.map { judgement($0.id) }
    }
}

extension Verdict {
    /// Why the same request may succeed later; `nil` when that is not the question.
    fileprivate var retryableReason: Reason? {
        switch self {
        case .doubtful(let reason), .circling(let reason), .unavailable(let reason, nil): reason
        // A destination that answered with `Retry-After` is left alone, with or without retries of its requests.
        case .unavailable, .delivered, .misconfigured, .tooLarge, .brokenOff, .refused, .moved, .withdrawn: nil
        }
    }
}
