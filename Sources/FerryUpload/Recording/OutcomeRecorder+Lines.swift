import FerrySpool

/// Rejecting some lines of a segment.
extension OutcomeRecorder {
    /// Puts lines of a segment into `rejected/` that the destination refused, while it took the others of their request.
    ///
    /// - Returns: The line of the ledger.
    func setAside(
        _ lines: [(line: RequestPart.Line, refusal: RefusedEvent)], of segment: PreparedSegment
    ) throws(FileError) -> LedgerEntry {
        let reasons = lines.map { "line \($0.line.number): \($0.refusal.message)" }
        let more = lines.count > Self.mostReasons ? "; …" : ""
        let gist = reasons.prefix(Self.mostReasons).joined(separator: "; ")
        let message = "refused, while the other lines of \(segment.claim.name) were taken: \(gist)\(more)".printable(limit: 1000)
        let (time, status) = (now(), lines.first?.refusal.status)
        let reason = RejectionReason(
            at: time, kind: "status", status: status, message: message, attempts: segment.attempt,
            body: String(reasons.joined(separator: "\n").prefix(Int(TransportOptions.answerBodyKept.bytes))))
        return try lease.spool().rejected.setAside(
            lines.map { ($0.line.number, $0.line.event) }, of: segment.claim, key: segment.facts.idempotencyKey, reason,
            entry(segment.claim, .rejected, status: status, attempts: segment.attempt, detail: message))
    }

    private static let mostReasons = 3
}
