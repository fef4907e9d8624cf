import FerrySpool

/// What came of a request.
struct RequestOutcome: Sendable {
    var verdict: Verdict
    var trace = RequestTrace()
    var duration: Duration?
    /// What the request carried.
    var load = (bytes: ByteCount.zero, events: 0 as Int64)
    /// When a segment that is too large, and could not be split, is tried again.
    var postponedUntil: Timestamp?
    /// This process sends nothing more: the next one tries at once.
    var isLast = false
    /// The request's key, where it carried several segments.
    var request: String?
    /// How many events it carried, where a longer one was too large.
    var requestEvents: Int64?
    /// How often it was tried since nothing was known of it, where each request has retries of its own.
    var tries: Int?
    /// Its answer was lost once more, when it was repeated as it was.
    private(set) var wasLostAgain = false
    var hadNoAnswer: Bool { trace.latency == nil }

    /// Whether all of it went out, and nothing tells what became of it.
    var leavesDoubt: Bool {
        switch verdict {
        case .doubtful: trace.departure == .whole
        case .withdrawn(let reason): trace.departure == .whole && reason.kind != "changed"
        case .unavailable, .misconfigured, .moved, .circling: trace.mayHaveArrived
        case .delivered, .refused, .tooLarge, .brokenOff: false
        }
    }

    /// Returns whether it is to be made again as it was, by any sender.
    ///
    /// - Parameter repeatsWhole: Whether this sender repeats in any case what fails.
    func isToBeRepeated(_ repeatsWhole: Bool) -> Bool {
        leavesDoubt && (repeatsWhole || trace.mayHaveArrived && !verdict.isDoubtful)
    }

    /// Takes over what an earlier try of the request left open: what was in doubt is so still, if this tells nothing of it. A server that dies with
    /// the first one's answer is not there for the second.
    mutating func follows(_ earlier: RequestOutcome) {
        guard !verdict.isDoubtful else { return }
        if let reason = earlier.verdict.reason { verdict = verdict.after(reason) }
        if earlier.leavesDoubt { (trace.mayHaveArrived, trace.departure) = (true, .whole) }
    }

    /// Ends the doubt about a request that was made once more as it was: it may be what the server dies of.
    ///
    /// - Parameter sidecar: What was known before.
    mutating func resolveDoubt(_ sidecar: RetryState?) {
        let isRepeated = sidecar?.isInterrupted ?? false
        if !isRepeated, verdict.tellsOnlyWhenToComeBack { trace.mayHaveArrived = true }
        // Of what was under way when its process died nothing is known.
        if isRepeated, trace.mayHaveArrived, sidecar?.lastError != .interrupted {
            (trace.mayHaveArrived, wasLostAgain) = (false, true)
        }
    }
}
