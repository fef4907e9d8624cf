import FerrySpool

/// What a tracker has published of late.
///
/// An uploader begins with what lies in the folder, and tells its threshold after that. What is published in between, and until the tracker looks
/// for it, is among the events that wait, as those in journals are.
struct RecentPublications {
    private struct Publication {
        let at: Timestamp
        let priority: Priority
        let events: Int64
        /// When the first of its events was stored.
        let since: Duration
    }

    private var all: [Publication] = []
    /// A tracker looks for uploaders every second; far fewer are published meanwhile.
    private static let most = 64

    mutating func add(_ fill: BatchRules.Fill, _ priority: Priority, at now: Timestamp) {
        if all.count == Self.most { all.removeFirst() }
        all.append(Publication(at: now, priority: priority, events: Int64(fill.events), since: fill.since))
    }

    /// Adds what was published since an uploader began, and counts.
    ///
    /// - Parameter unpublished: What is in journals.
    func counted(
        _ rule: UploaderMark.Threshold, since start: Timestamp, with unpublished: SendThreshold.Unpublished
    ) -> SendThreshold.Unpublished {
        all.filter { $0.at >= start && SendThreshold.counts($0.priority, rule) }.reduce(into: unpublished) { sum, publication in
            sum.events.add(publication.events)
            sum.since = min(sum.since ?? publication.since, publication.since)
        }
    }
}
