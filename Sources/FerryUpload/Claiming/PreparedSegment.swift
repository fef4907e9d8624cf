import FerrySpool

/// A claimed segment that is fit and due to be sent.
struct PreparedSegment: Sendable {
    let claim: Claim
    let facts: SegmentMetadata
    let body: RequestBody
    var sidecar: RetryState?
    let preparedAt = ContinuousClock.now
    /// What the destination said of it besides that it took it.
    private(set) var remark: String?

    /// Notes what the answer to a request said that carried it, or a part of it.
    mutating func note(_ text: String?) {
        guard let text, remark != text else { return }
        remark = remark.map { "\($0); \(text)".printable(limit: Self.longestRemark) } ?? text
    }

    private static let longestRemark = 1000

    /// Returns how many of its first lines a destination has.
    ///
    /// - Parameter destination: As its state file is named.
    func delivered(to destination: String) -> Int64 {
        guard let delivered = sidecar?.delivered, delivered.destination == destination else { return 0 }
        return max(0, delivered.lines)
    }

    var preparedAgo: Duration { ContinuousClock.now - preparedAt }

    /// The number of the try that comes next.
    var attempt: Int { (sidecar?.attempts ?? 0) + 1 }
}
