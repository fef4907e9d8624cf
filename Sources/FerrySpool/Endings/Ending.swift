/// How a claimed segment ends.
public struct Ending: Sendable {
    public enum Disposal: Sendable {
        /// Delivered: into `sent/`, or deleted.
        case sent(keep: Bool)
        /// Into `rejected/`, with its reason.
        case rejected(RejectionReason)
        /// Deleted: by the age limit, by the size limit, or because its halves are published.
        case expired, evicted, split
    }

    public let claim: Claim
    public let disposal: Disposal
    public var entry: LedgerEntry
    /// Whether there is a sidecar to remove.
    let hasSidecar: Bool

    public init(_ claim: Claim, _ disposal: Disposal, _ entry: LedgerEntry, hasSidecar: Bool = true) {
        self.hasSidecar = hasSidecar
        self.claim = claim
        self.disposal = disposal
        self.entry = entry
    }
}
