import FerrySpool

/// When a tracker publishes all that it has stored, because an uploader sends a number of stored events at once.
///
/// An uploader counts what is published. So that it sees what its threshold asks for, all journals are published when as many events are stored
/// since everything was last sent: since the threshold was last reached, or the oldest of them was as old as the uploader's interval.
struct SendThreshold: Sendable {
    let rule: UploaderMark.Threshold
    private var count: Int64
    /// When the first of the counted was stored.
    private var since: Duration?

    /// What is in journals.
    struct Unpublished {
        var events: Int64 = 0
        /// When the first of them was stored.
        var since: Duration?
    }

    /// - Parameter unpublished: What is stored already.
    init(_ rule: UploaderMark.Threshold, _ unpublished: Unpublished) {
        self.rule = rule
        (count, since) = (unpublished.events, unpublished.since)
    }

    /// Returns whether events of a priority are counted.
    static func counts(_ priority: Priority, _ rule: UploaderMark.Threshold) -> Bool {
        priority > .critical || !(rule.leavesCriticalOut ?? false)
    }

    /// Counts a stored event.
    ///
    /// - Parameter unpublished: Without it.
    /// - Returns: Whether everything is to be published.
    mutating func stored(at now: Duration, _ unpublished: () -> Unpublished) -> Bool {
        if rule.interval > .zero, let first = since, now - first >= rule.interval {
            // What was published has been sent.
            let left = unpublished()
            (count, since) = (left.events, left.since)
        }
        count.add(1)
        since = since ?? now
        guard count >= rule.events else { return false }
        (count, since) = (0, nil)
        return true
    }
}
