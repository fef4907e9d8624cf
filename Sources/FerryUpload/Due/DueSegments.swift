package import FerrySpool

/// The pending segments of a spool in the order in which a pass that begins now takes them, each with whether it is sent: looked at one by one, and
/// nothing in the spool changes.
package struct DueSegments: Sequence, IteratorProtocol {
    private var segments: PendingSegments
    private var decision: DueDecision
    /// Why segments are deleted first, by their places in the listing.
    private let drops: [Int: String]

    /// Why nothing leaves; `nil` when nothing stands in the way.
    package var standstill: Standstill? { decision.standstill }

    /// - Parameters:
    ///   - options: Of the pass.
    ///   - now: When the pass begins.
    /// - Throws: `FileError` when the folder cannot be listed.
    package init(_ spool: Spool, options: UploadOptions, now: Timestamp) throws(FileError) {
        try self.init(spool, options: options, now: now, clock: .now())
    }

    /// - Parameter clock: What age limits go by.
    init(_ spool: Spool, options: UploadOptions, now: Timestamp, clock: ClockJumpDetector.Reading) throws(FileError) {
        var rules = SegmentQueue.Rules(options.due, at: now)
        if options.order == .live { rules.liveSince = LiveShare.liveSince(at: now) }
        let listing = try spool.scan(sizes: !options.retention.isUnlimited)
        // What cannot be read stops no pass.
        let control = (try? spool.control.read()) ?? SpoolControl()
        let destination = (try? spool.destinations.state(DestinationID.id(of: "\(options.destination)"))) ?? nil
        decision = DueDecision(options, rules, control: control, destination: destination, at: now)
        var drops = control.stopsSending ? [:] : spool.retention.forecast(options.retention, of: listing, clock: clock)
        if !control.stopsSending, let due = options.due {
            let late = spool.retention.forecastLate(due, of: listing, now: now, clock: clock)
            for index in late where drops[index] == nil { drops[index] = due.whyDropped }
        }
        self.drops = drops
        segments = try PendingSegments(spool, listing, rules, longestWait: options.backOff.longestWait, now: now)
    }

    package mutating func next() -> DueSegment? {
        guard let (index, segment) = segments.nextWithIndex() else { return nil }
        return DueSegment(segment: segment, reason: decision.reason(for: segment, droppedAs: drops[index]))
    }

    /// Returns those that are deleted first among the ones that were not returned yet, and how many others are left. Of a million over a limit, these
    /// alone are looked at.
    package mutating func rest() -> (dropped: [DueSegment], others: Int) {
        let left = drops.keys.sorted().filter { segments.isLeft($0) }
        let others = segments.left - left.count
        let dropped = left.compactMap { index in
            segments.take(index).map { DueSegment(segment: $0, reason: decision.reason(for: $0, droppedAs: drops[index])) }
        }
        return (dropped, others)
    }
}
