import FerrySpool

/// An answer of Splunk's HTTP Event Collector, read by its code (Splunk documentation, "Possible error codes").
struct SplunkAnswer {
    private(set) var code: Int?
    private(set) var text = ""
    /// The first event that it did not take, from 0.
    private(set) var invalidEvent: Int64?

    init(_ body: [UInt8]) {
        body.withUnsafeBufferPointer { bytes in
            var walker = JSONWalker(bytes)
            _ = walker.forEachMember { key, value in
                switch (key.string(bytes), value.kind) {
                case ("code", .number): code = value.integer(bytes).flatMap { Int(exactly: $0) }
                case ("text", .string): text = value.string(bytes).printable(limit: 200)
                case ("invalid-event-number", .number): invalidEvent = value.integer(bytes).flatMap { Int64(exactly: $0) }
                default: break
                }
            }
        }
    }

    /// Returns what it means: by its code, where that says more than the status.
    ///
    /// - Parameter general: What the status means.
    func verdict(_ general: Verdict) -> Verdict {
        let status = general.status ?? 200
        func reason(_ hint: String = "", _ kind: String = "status") -> Verdict.Reason {
            let said = code.map { ": \(text), code \($0)" } ?? ""
            return Verdict.Reason(kind: kind, status: status, message: "HTTP \(status)\(said)\(hint)")
        }
        switch (general, code) {
        case (.delivered, 0): return general
        case (.delivered, nil):
            return .doubtful(reason(" without a code, which every answer of an HTTP Event Collector has"))
        case (.delivered, _): return .doubtful(reason())
        case (.refused, let code?), (.misconfigured, let code?): return refusal(code, reason) ?? general
        case (.doubtful, let code?) where Self.busy.contains(code): return .unavailable(reason(), retryAfter: nil)
        default: return general
        }
    }

    /// What says that it takes nothing now, or not yet.
    private static let busy: Set = [9, 18, 19, 20, 23, 24, 25, 26, 27]

    private func refusal(_ code: Int, _ reason: (_ hint: String, _ kind: String) -> Verdict.Reason) -> Verdict? {
        switch code {
        case 1, 2, 3, 4, 16, 21, 22: return .misconfigured(reason("; check the token", Verdict.Reason.access))
        case 7: return .misconfigured(reason("; check the token's index", "status"))
        case 10, 11: return .misconfigured(reason("; use a token without indexer acknowledgment", "status"))
        case 5, 6, 12, 13, 15:
            let taken = invalidEvent.map { $0 > 0 ? "; the first \($0) events of the request are taken" : "" } ?? ""
            return .refused(reason(taken, "status"), body: text)
        default: return nil
        }
    }
}
