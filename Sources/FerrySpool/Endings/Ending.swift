/// How a claimed segment ends.
package struct Ending: Sendable {
    /// What becomes of the segment's file.
    package enum Disposal: Sendable {
        /// Delivered: into `sent/`, or deleted.
        case sent(keep: Bool)
        /// Into `rejected/`, with its reason.
        case rejected(RejectionReason)
        /// Deleted: by the age limit, by the size limit, or because its halves are published.
        case expired, evicted, split
    }

    /// The claim on the segment.
    package let claim: Claim
    /// What becomes of the segment's file.
    package let disposal: Disposal
    /// The line that the ledger gets.
    package var entry: LedgerEntry
    /// Whether there is a sidecar to remove.
    let hasSidecar: Bool

    /// Whether the destination has the segment.
    package var isDelivered: Bool {
        if case .sent = disposal { return true }
        return false
    }

    /// Creates the ending of a claimed segment.
    package init(_ claim: Claim, _ disposal: Disposal, _ entry: LedgerEntry, hasSidecar: Bool = true) {
        self.hasSidecar = hasSidecar
        self.claim = claim
        self.disposal = disposal
        self.entry = entry
    }
}
