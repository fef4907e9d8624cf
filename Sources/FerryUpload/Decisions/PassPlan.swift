/// Decides what an upload pass does next and what the outcomes mean for the segments: no I/O, no clock.
///
/// Destination or segment? After a doubtful failure the next segment goes out alone, as a probe. If anything passes, the earlier
/// failures were the segments' own; if everything that was under way fails too, the destination is unwell and the pass ends.
public struct PassPlan: Sendable {
    public enum Order: String, CaseIterable, Sendable {
        /// Priority and time decide; a segment that must wait is passed by.
        case priority
        /// The same order, but nothing passes a segment that must wait, and one is sent at a time.
        case strict
    }

    /// A number that the caller gives to each segment of the pass.
    public typealias ID = Int

    public enum Step: Equatable, Sendable {
        /// Send the next segment in order.
        case sendNext
        /// Send a segment that has been tried least: the head of the line may be what is wrong.
        case sendProbe
        /// Wait for what is under way.
        case wait
        /// Nothing more is to be started.
        case stop
    }

    public enum StopReason: Equatable, Sendable {
        case misconfigured(Verdict.Reason)
        case unwell(Verdict.Reason, retryAfter: Duration?)
        /// Strict order: the head of the line must wait.
        case headWaits
        case deadline
        case interrupted
        /// The folder or the disk failed.
        case localFailure
    }

    /// What an outcome means for a segment that was under way.
    public enum Judgement: Equatable, Sendable {
        case delivered(ID)
        case refused(ID)
        case split(ID)
        /// Its own fault: it alone backs off.
        case culprit(ID)
        /// It failed, and nothing shows whether it or the destination is to blame.
        case unjudged(ID)
        /// The destination's fault: it waits for the destination.
        case victim(ID)
        /// It was not tried, or not to an end.
        case untouched(ID)
    }

    public let order: Order
    /// The most that may be under way at once.
    public let parallel: Int
    public private(set) var stopReason: StopReason?
    /// How many may be under way now: doubles with each success until `parallel`.
    public private(set) var window: Int
    private var underWay: Set<ID> = []
    private var suspects: [(id: ID, reason: Verdict.Reason)] = []
    /// Whether the destination has been seen to work in this pass.
    public private(set) var isProvenWell = false

    /// - Parameter isRecovering: The destination failed last time: begin with one at a time.
    public init(order: Order, parallel: Int, isRecovering: Bool) {
        self.order = order
        self.parallel = order == .strict ? 1 : max(1, parallel)
        window = isRecovering ? 1 : self.parallel
    }

    /// What to do now.
    public func next() -> Step {
        if stopReason != nil { return .stop }
        if suspects.isEmpty { return underWay.count < window ? .sendNext : .wait }
        return underWay.isEmpty ? .sendProbe : .wait
    }

    public mutating func start(_ id: ID) { underWay.insert(id) }

    /// A segment was not sent after all: not due, claimed by somebody else, gone, or ended without the destination.
    public mutating func skip(_ id: ID) { underWay.remove(id) }

    /// Starts nothing more.
    public mutating func stop(_ reason: StopReason) { stopReason = stopReason ?? reason }

    /// A segment's try ended. Returns what is certain now, of this segment and of earlier ones.
    public mutating func finish(_ id: ID, _ verdict: Verdict) -> [Judgement] {
        underWay.remove(id)
        switch verdict {
        case .delivered: return provenWell() + [.delivered(id)]
        // A clear answer shows that the destination works.
        case .refused: return provenWell() + [.refused(id)]
        case .tooLarge: return provenWell() + [.split(id)]
        case .doubtful(let reason): return doubt(id, reason)
        case .unwell(let reason, let retryAfter):
            stop(.unwell(reason, retryAfter: retryAfter))
            return blameDestination() + [.victim(id)]
        case .misconfigured(let reason), .moved(_, let reason):
            stop(.misconfigured(reason))
            return blameDestination(as: Judgement.unjudged) + [.untouched(id)]
        case .withdrawn: return settleIfOver() + [.untouched(id)]
        }
    }

    /// No segment is left that could serve as a probe: what failed stays unjudged.
    public mutating func exhausted() -> [Judgement] {
        guard underWay.isEmpty else { return [] }
        return blameDestination(as: Judgement.unjudged)
    }

    private mutating func provenWell() -> [Judgement] {
        isProvenWell = true
        window = min(parallel, window * 2)
        return blameDestination(as: Judgement.culprit)
    }

    private mutating func doubt(_ id: ID, _ reason: Verdict.Reason) -> [Judgement] {
        window = 1
        if order == .strict {
            stop(.headWaits)
            return [.unjudged(id)]
        }
        suspects.append((id, reason))
        return settleIfOver()
    }

    /// Two different segments failed, nothing is under way that could still pass: it is the destination.
    private mutating func settleIfOver() -> [Judgement] {
        guard underWay.isEmpty, !suspects.isEmpty else { return [] }
        if suspects.count >= 2, stopReason == nil { stop(.unwell(suspects.last!.reason, retryAfter: nil)) }
        if case .unwell = stopReason { return blameDestination() }
        return stopReason == nil ? [] : blameDestination(as: Judgement.unjudged)
    }

    private mutating func blameDestination(as judgement: (ID) -> Judgement = Judgement.victim) -> [Judgement] {
        defer { suspects = [] }
        return suspects.map { judgement($0.id) }
    }
}
