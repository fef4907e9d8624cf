import FerrySpool

/// What is to be done once ``DeliveryState`` has decided, outside of it.
enum DeliveryEffect: Sendable {
    /// Writes down what became of a request's segments. ``DeliveryState/recorded(_:_:at:)`` is told what is left of them.
    case record(JudgedRequest)
    /// Writes what is known of the destination into the spool of a lane, where the next process looks for it.
    case keepHealth(lane: Int)
}

/// A request that has ended, and what that means for its segments.
struct JudgedRequest: Sendable {
    let job: DeliveryJob
    let judgement: PassPlan.Judgement
    let outcome: Courier.Outcome
    /// When the destination is tried again.
    let destinationWaitsUntil: Timestamp?

    /// Whether it says something of the segments' content, and not of the destination alone.
    var isOfContent: Bool {
        switch judgement {
        case .delivered, .refused, .split, .culprit: true
        case .unjudged, .victim, .untouched: false
        }
    }

    /// Whether the segments may have to be tried again.
    var mayBackOff: Bool { if case .delivered = judgement { false } else { true } }
}

/// What is left of a segment after its request.
enum Aftermath: Equatable, Sendable {
    /// Its ending is on its way into the ledger.
    case ended
    /// Its sidecar says until when it waits.
    case waits(until: Timestamp)
    /// It is as it was before.
    case asBefore(hasSidecar: Bool)
    /// It was written into while its request was under way: the answer is about neither its old content nor the new.
    case changed(hasSidecar: Bool)
    /// It could not be written down.
    case failed(FileError)
}
