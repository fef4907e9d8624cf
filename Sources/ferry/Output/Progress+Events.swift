import FerrySpool
import FerryUpload

extension Progress {
    /// Goes on with the upload of a spool.
    ///
    /// - Parameter ahead: What is pending in other spools, which are sent after it.
    func goOn(with spool: Spool, ahead: ProgressLine.Amount) {
        guard isShown else { return }
        goOn(ProgressLine(verb: "sent", total: ProgressLine.Amount(pendingIn: spool).map { $0 + ahead }))
    }

    /// Shows what happens during an upload: lines for what is unusual.
    func show(_ event: UploadEvent) {
        switch event {
        case .sent(let entry): count(entry.bytes)
        case .rejected(let entry):
            revise(by: .init(count: -1, bytes: .zero - entry.bytes))
            log.warn("\(entry.segment) is rejected: \(entry.detail ?? "")")
        case .split(let entry):
            // Its halves are two.
            revise(by: .init(count: 1))
            log.note("\(entry.segment) is split: \(entry.detail ?? "")")
        case .backsOff(let segment, let until, let reason):
            log.note("\(segment) failed (\(reason.message)), not to be tried before \(until.rfc3339)")
        case .warning(let text): log.warn(text)
        }
    }

    /// Shows what long work tells.
    func show(_ progress: WorkProgress) {
        switch progress {
        case .begins(let part, let segments, let bytes):
            begin(ProgressLine(verb: part.verb, unit: part.unit, total: .init(count: segments, bytes: bytes)))
        case .revises(let segments, let bytes): revise(by: .init(count: segments, bytes: bytes))
        case .passed(let bytes): pass(bytes)
        case .done(let bytes): count(bytes)
        }
    }
}

extension WorkProgress.Part {
    /// What is done, as the lines of progress say it.
    fileprivate var verb: String {
        switch self {
        case .checking: "checked"
        case .hashing: "hashed"
        case .copying: "copied"
        case .taking: "took"
        case .acknowledging: "acknowledged"
        case .dropping: "dropped"
        case .deleting: "deleted"
        case .sending: "sent"
        case .feeding: "replayed"
        case .reading: "read"
        }
    }

    fileprivate var unit: ProgressLine.Unit {
        switch self {
        case .feeding, .reading: .source
        default: .segment
        }
    }
}
