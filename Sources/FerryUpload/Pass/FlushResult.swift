import FerrySpool

/// What came of sending within a time: the three answers of Google Analytics' dispatch.
public enum FlushResult: Equatable, Sendable {
    /// There was nothing to send.
    case noData
    /// Something was sent. `more`: something is left.
    case sent(more: Bool)
    /// Something is there, and none of it could be sent; or the destination failed on the way.
    case failed

    /// Creates the result of a pass from its report.
    package init(_ report: UploadReport) { self.init(report, beside: false) }

    /// - Parameter hasSent: Another sender of this process has delivered something meanwhile.
    package init(_ report: UploadReport, beside hasSent: Bool) {
        switch report.stopReason {
        case .misconfigured, .unavailable, .off, .headWaits, .localFailure: self = .failed
        case .timeLimit, .interrupted, .paused, nil:
            if hasSent || report.sent.segments > 0 || report.partEvents > 0 || report.rejectedPartEvents > 0 {
                self = .sent(more: report.remaining > 0)
            } else {
                self = report.remaining > 0 || report.rejected > 0 ? .failed : .noData
            }
        }
    }
}
