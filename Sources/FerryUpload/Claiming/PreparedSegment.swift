import FerrySpool

/// A claimed segment that is fit and due to be sent.
struct PreparedSegment: Sendable {
    let claim: Claim
    let facts: SegmentMetadata
    let body: RequestBody
    var sidecar: RetryState?
    let preparedAt = ContinuousClock.now
    /// What its requests had for answers before the last one that said something, and that one.
    private(set) var said: (before: String?, last: (text: String, times: Int)?) = (nil, nil)

    /// What the destination said of it besides that it took it.
    var remark: String? {
        guard let last = said.last else { return said.before }
        let text = last.times > 1 ? "\(last.text) (\(last.times) times)" : last.text
        return said.before.map { "\($0); \(text)".printable(limit: Self.longestRemark) } ?? text
    }

    /// Notes what the answer to a request said that carried it, or a part of it.
    mutating func note(_ text: String?) {
        guard let text else { return }
        if said.last?.text == text { said.last?.times += 1 } else { said = (remark, (text, 1)) }
    }

    private static let longestRemark = 1000

    /// Takes over what the destination said of the lines that it had before this process.
    ///
    /// - Parameter destination: As its state file is named.
    mutating func recallRemark(of destination: String) {
        if remark == nil { said.before = sidecar?.delivered(to: destination)?.remark }
    }

    /// Returns how many of its first lines a destination has.
    ///
    /// - Parameter destination: As its state file is named.
    func delivered(to destination: String) -> Int64 { max(0, sidecar?.delivered(to: destination)?.lines ?? 0) }

    var preparedAgo: Duration { ContinuousClock.now - preparedAt }

    /// The number of the try that comes next.
    var attempt: Int { (sidecar?.attempts ?? 0) + 1 }
}

extension RetryState {
    /// - Parameter destination: As its state file is named.
    fileprivate func delivered(to destination: String) -> Delivered? {
        delivered.flatMap { $0.destination == destination ? $0 : nil }
    }
}
