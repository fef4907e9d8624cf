import FerrySpool

/// What reads and writes one spool's files for a delivery.
final class SpoolServices: Sendable {
    let lease: SpoolLease
    let committer: LedgerCommitter
    let recorder: OutcomeRecorder
    let travel = TravelWatch()
    let laneNotices = LaneNotices()
    let requests: RequestNoting
    /// What comes while a listing is worked off; `nil` where that is not known.
    let arrivals: FolderArrivals?
    let claimer: SegmentClaimer
    let onEvent: @Sendable (UploadEvent) -> Void

    init(
        _ lease: SpoolLease, options: UploadOptions, arrivals: FolderArrivals? = nil,
        endingCounter: EndingCounter = EndingCounter(),
        now: @escaping @Sendable () -> Timestamp, onEvent: @escaping @Sendable (UploadEvent) -> Void
    ) {
        self.lease = lease
        self.onEvent = onEvent
        requests = RequestNoting(lease)
        self.arrivals = arrivals
        claimer = SegmentClaimer(options: options, travel: travel, arrivals: arrivals) { onEvent(.warning($0)) }
        committer = LedgerCommitter(
            lease, direct: options.destination.direct, sentGivesWay: options.sentGivesWay, endingCounter: endingCounter,
            onEvent: onEvent)
        recorder = OutcomeRecorder(lease: lease, options: options, committer: committer, now: now) { onEvent(.warning($0)) }
    }

    /// Has what dead processes had under way made again as it was, or ended.
    func restoreRequests(in spool: Spool) {
        spool.requests.restore(keepsSent: recorder.options.keepsSent, sentGivesWay: recorder.options.sentGivesWay) {
            onEvent(.warning("\($0)"))
        }
    }

    /// Returns a pending segment of a name; `nil` when there is none.
    ///
    /// - Parameter countsEvents: Whether its notes are asked how many events it holds.
    /// - Throws: `FileError` where the folder cannot be looked at.
    func find(_ name: String, countsEvents: Bool = false) throws(FileError) -> FoundSegment? {
        var listing = SpoolListing()
        guard let index = try lease.spool().add(name, to: &listing) else { return nil }
        let events = countsEvents ? notedEvents(of: name) : 1
        return FoundSegment(name: name, entry: listing.entries[index], events: events)
    }

    /// Returns the halves of the segment of a request that was split and has ended.
    func halves(of request: JudgedRequest, _ aftermaths: [Aftermath]) -> [FoundSegment] {
        guard case .split = request.judgement, aftermaths.first == .ended, let item = request.job.items.first,
            let halves = SegmentName(item.name)?.halves
        else { return [] }
        return [halves.first, halves.second].compactMap { (try? find($0.fileName)) ?? nil }
    }

    /// Returns how many events a segment holds, as far as its notes tell.
    func notedEvents(of name: String) -> Int64 { (try? lease.spool().notedEvents(of: name)) ?? 1 }
}

extension SpoolServices: SpoolView {
    func sidecar(of name: String) -> RetryState? { (try? lease.spool().sidecars.read(of: name)) ?? nil }

    func size(of name: String) -> ByteCount? { ((try? lease.spool().directory.status(name)) ?? nil)?.size }

    func contains(_ name: String) -> Bool { (try? lease.spool().directory.contains(name)) ?? true }
}
