import FerrySpool

/// What goes out together.
extension DeliveryState {
    /// Returns the room for what may go out with a segment; `nil`: it goes alone.
    func room(beside first: QueuedSegment, _ view: some SpoolView) -> JoiningRoom? {
        // A URL is made for the first segment of a request.
        if options.destination.namesSegment || options.destination.namesDay { return nil }
        let takesTried = takesTried(beside: first, view)
        if options.cuts != nil { return .init(gathering: first, takesTried: takesTried) }
        // What was interrupted is as large as it was, even if less is joined now.
        if isInterrupted(first, view) { return .init(gathering: first, takesTried: true) }
        return joinLimit.flatMap { .init(limit: $0, first: first, takesTried: takesTried) }
    }

    /// The most bytes of a joined request; `nil`: none is joined.
    var joinLimit: ByteCount? {
        options.joinsSegments ? options.coalesce.limit(accepted: acceptedJoined, refused: refusedJoined) : nil
    }

    /// Returns whether segments that were tried may go out with another. Where what failed goes out one by one, what has had no outcome is still
    /// repeated as it was.
    private func takesTried(beside first: QueuedSegment, _ view: some SpoolView) -> Bool {
        options.repeatsWhole || isInterrupted(first, view)
    }

    func isInterrupted(_ first: QueuedSegment, _ view: some SpoolView) -> Bool {
        guard first.entry.hasSidecar, let sidecar = view.sidecar(of: first.name) else { return false }
        return sidecar.interruptedRequest != nil && options.canRepeat(sidecar)
    }

    /// Takes what was in one request with a segment, however much is to be sent, and wherever it stands: something else may have come between.
    ///
    /// - Returns: `nil` when it was in none with others.
    private mutating func mates(
        of first: QueuedSegment, in queue: Int, _ view: some SpoolView
    ) -> [QueuedSegment]? {
        let options = options
        guard first.entry.hasSidecar, !first.goesAlone,
            let request = view.sidecar(of: first.name).flatMap({ options.repeatedRequest(of: $0) }),
            let count = JoinedRequest.count(ofKey: request)
        else { return nil }
        let isMate = { options.repeatedRequest(of: $0) == request }
        var found = queues[queue].kin(of: first.name, atMost: count - 1, seeing: view, where: isMate)
        if found.count < count - 1 {
            // What would leave later by the spool's schedule goes out with them.
            queues[queue].releaseKin(of: first.name, seeing: view, where: isMate)
            found = queues[queue].kin(of: first.name, atMost: count - 1, seeing: view, where: isMate)
        }
        return queues[queue].takeKin(found, seeing: view)
    }

    /// Takes what may go out with a segment: what was in one request with it, and the small ones that follow it, of its priority and stream.
    mutating func neighbours(
        of first: QueuedSegment, in queue: Int, _ view: some SpoolView, _ room: inout JoiningRoom?
    ) -> [QueuedSegment] {
        let mates = mates(of: first, in: queue, view)
        var items = mates ?? []
        if mates != nil {
            // What is new shows whether the last request is to be full. What belongs to other requests is not taken from them.
            guard options.cuts != nil else { return items }
            room?.leaveTried()
        }
        // Without room there is no look at what follows, which may cost a call of the kernel.
        guard room != nil, queues[queue].alone == 0, !first.goesAlone else { return items }
        let most = min(options.limit.map { $0 - started } ?? .max, JoiningRoom.mostSegments)
        while items.count + 1 < most {
            guard let next = queues[queue].takeNext(seeing: view, where: { room?.take($0, $1) ?? false }) else { break }
            items.append(next)
        }
        return items
    }

    /// Returns whether segments that are missing in requests of a job may come back, and are worth a wait. A single pass leaves it to the next.
    ///
    /// - Parameters:
    ///   - names: Of the job's segments.
    ///   - requests: The keys of those requests.
    func mayGetBack(
        _ requests: Set<String>, beside names: [String], of job: DeliveryJob, isOneTaken: Bool, seeing view: some SpoolView
    ) -> Bool {
        guard let first = names.first else { return false }
        let queue = queues[job.queue]
        let isMissing = { options.repeatedRequest(of: $0).map { requests.contains($0) } ?? false }
        // In the queue, or in a job that was gathered before the request was interrupted, and gives back what is not new.
        let isHere = {
            !queue.kin(of: first, atMost: 1, seeing: view, where: isMissing).isEmpty
                || underWay.contains { id, other in
                    id != job.id && other.queue == job.queue
                        && other.items.contains { view.sidecar(of: $0.name).map(isMissing) ?? false }
                }
                || queue.holdsKin(of: first, seeing: view, where: isMissing)
                || queue.waiting.values.contains { $0.request.map { requests.contains($0) } ?? false }
        }
        guard isOneTaken || queue.contention.othersHave(besides: names, isThere: view.contains) || isHere() else { return false }
        return !isContinuous || !queue.contention.isHopeless(first)
    }
}
