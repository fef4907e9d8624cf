import FerrySpool

/// Rejecting some lines of a segment.
extension OutcomeRecorder {
    /// Puts lines of a segment into `rejected/` that the destination refused, while it took the others of their request.
    ///
    /// - Returns: The line of the ledger.
    func setAside(
        _ lines: [RefusedLine], of segment: PreparedSegment
    ) throws(FileError) -> LedgerEntry {
        let reasons = Self.reasons(lines)
        let more = lines.count > Self.mostReasons ? "; …" : ""
        let gist = reasons.prefix(Self.mostReasons).joined(separator: "; ")
        let message = "refused, while the other lines of \(segment.claim.name) were taken: \(gist)\(more)".printable(limit: 1000)
        let (time, status) = (now(), lines.first?.refusal.status)
        let reason = RejectionReason(
            at: time, kind: "status", status: status, message: message, attempts: segment.attempt,
            body: Self.answers(reasons))
        return try lease.spool().rejected.setAside(
            lines.map { ($0.line.number, $0.line.event) }, of: segment.claim, key: segment.facts.idempotencyKey, reason,
            entry(segment.claim, .rejected, status: status, attempts: segment.attempt, detail: message))
    }

    /// Rejects a segment that the destination took nothing of.
    ///
    /// - Parameter lines: All of them.
    /// - Returns: When it is to be tried again, if it could not be rejected now.
    func rejectWhole(_ segment: PreparedSegment, _ lines: [RefusedLine]) throws(FileError) -> Timestamp? {
        let refusal = lines.first?.refusal
        return try reject(
            segment.claim, kind: "status", status: refusal?.status,
            message: RefusedEvent.all(lines.count, refusal?.message ?? ""), attempts: segment.attempt,
            body: Self.answers(Self.reasons(lines)))
    }

    private static func reasons(_ lines: [RefusedLine]) -> [String] {
        lines.map { "line \($0.line.number): \($0.refusal.message)" }
    }

    private static func answers(_ reasons: [String]) -> String {
        String(reasons.joined(separator: "\n").prefix(Int(TransportOptions.answerBodyKept.bytes)))
    }

    private static let mostReasons = 3
}
