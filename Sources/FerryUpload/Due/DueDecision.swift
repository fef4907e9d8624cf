import FerrySpool

/// Which pending segments a pass that begins now sends: no I/O, no clock. Asked in the order in which they leave.
///
/// Only attempts show what becomes of the destination and of each request: this is what a pass sends to a destination that takes everything.
struct DueDecision: Sendable {
    /// Why nothing leaves; `nil` when nothing stands in the way.
    let standstill: Standstill?
    private let options: UploadOptions
    private let rules: SegmentQueue.Rules
    private let now: Timestamp
    /// A stopped spool deletes nothing either.
    private let isStopped: Bool
    private var sent = 0
    /// In strict order: the segment that holds up those behind it.
    private var head: String?

    /// - Parameters:
    ///   - rules: The order of the segments, and what of them is held back.
    ///   - destination: What is known of the destination; `nil` when it worked last, or was never tried.
    init(
        _ options: UploadOptions, _ rules: SegmentQueue.Rules, control: SpoolControl, destination: RetryState?, at now: Timestamp
    ) {
        (self.options, self.rules, self.now) = (options, rules, now)
        isStopped = control.stopsSending
        let destinations = destination.map { [(id: DestinationID.id(of: "\(options.destination)"), state: $0)] } ?? []
        standstill = Standstill(
            control: control, uploader: nil, destinations: options.ignoresWaits ? [] : destinations,
            longestWait: options.backOff.longestWait, at: now)
    }

    /// Returns why the next segment is not sent; `nil` when it is.
    ///
    /// - Parameter drop: Why it is deleted before anything is sent; `nil` when it is not.
    mutating func reason(for segment: PendingSegment, droppedAs drop: String?) -> NotSentReason? {
        if let standstill, isStopped { return .standstill(standstill) }
        if let drop { return .dropped(why: drop) }
        if let standstill { return .standstill(standstill) }
        if case .exported(let bundle) = segment.state { return .travels(bundle: bundle) }
        if !rules.sendsLate, rules.isLate(segment.created) { return .late }
        if let head { return .behind(head) }
        if let limit = options.limit, sent >= limit { return .overLimit }
        guard let reason = ownReason(segment) else {
            sent += 1
            return nil
        }
        if options.order == .strict { head = segment.name }
        return reason
    }

    /// Returns why a segment cannot leave that nothing else holds up.
    private func ownReason(_ segment: PendingSegment) -> NotSentReason? {
        if let failure = segment.failure { return .unusable(failure) }
        if let retry = segment.retry, let until = options.wait(of: retry, at: now) { return .waits(until: until) }
        switch segment.state {
        case .beingWritten(let until): return .beingWritten(until: until)
        case .unfinished(let until): return .unfinished(until: until)
        // The destination's wait is the pass's, whichever segment notes it.
        case .due, .waits, .exported: return nil
        }
    }
}
