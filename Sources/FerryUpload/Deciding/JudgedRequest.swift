import FerrySpool

/// A request that has ended, and what that means for its segments.
struct JudgedRequest: Sendable {
    let job: DeliveryJob
    let judgement: DeliveryPlan.Judgement
    let outcome: RequestOutcome
    /// When the destination is tried again.
    let destinationWaitsUntil: Timestamp?

    /// Whether it says something of the segments' content, and not of the destination alone.
    var isOfContent: Bool {
        switch judgement {
        case .delivered, .refused, .split, .segmentAtFault: true
        case .undetermined, .destinationAtFault, .untouched: false
        }
    }

    /// Whether the segments may have to be tried again.
    var mayBackOff: Bool { if case .delivered = judgement { false } else { true } }
}
