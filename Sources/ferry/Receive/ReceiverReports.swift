import FerryReceiver
import FerrySpool

/// Says and counts what a receiver does.
final class ReceiverReports: Sendable {
    let metrics = ReceiverMetrics()
    private let log: Log
    private let failures = Pauses<String>(.seconds(60))
    private let refusals = Pauses<String>(.seconds(1))
    /// Who asks for the wrong place, or with a wrong token, does so again and again until a person mends it.
    private let strangers = Pauses<String>(.seconds(60))

    init(_ log: Log) { self.log = log }

    func add(_ event: ReceiverEvent) {
        metrics.count(event)
        switch event {
        case .received(let segment, let machine):
            let events = segment.events.map { ", \(counted($0, "event"))" } ?? ""
            let source = machine.map { " from \($0)" } ?? ""
            log.note("\(segment.isDuplicate ? "known" : "received") \(segment.name)\(events), \(segment.bytes)\(source)")
        case .refused(let refusal):
            let sender = refusal.machine.map { "\($0) at \(refusal.address)" } ?? refusal.address
            let reason = refusal.reason.printable(limit: 500)
            // Why the receiver itself, or its store, takes nothing are a few reasons, each of which is told. A sender may cause any number.
            let what = "\(sender) with \(refusal.status)" + (refusal.status == 503 ? ": \(reason)" : "")
            let pauses = [401, 403, 404].contains(refusal.status) ? strangers : refusals
            guard let skipped = pauses.next(what) else { return }
            let more = skipped > 0 ? " (and \(skipped) more before)" : ""
            log.warn("refused a request of \(sender) with \(refusal.status): \(reason)\(more)")
        case .failed(let error):
            // Every sender tries again.
            if failures.next("\(error.operation) \(error.code)") != nil { log.warn("cannot store what is received: \(error)") }
        case .sentDeleted(let count): log.note(sentDeletedText(count))
        case .keysForgotten(let forgotten, let machine):
            let owner = machine.map { " of \($0)" } ?? ""
            if let last = forgotten.logs.last {
                log.note("forgot the keys\(owner) of \(counted(Int64(forgotten.logs.count), "day")), up to \(last)")
            }
            for problem in forgotten.problems { log.warn("cannot forget old keys\(owner): \(problem)") }
        case .warning(let text): log.warn(text)
        }
    }

    /// Says how many refusals were held back whose time is over, until the task is cancelled; then of all.
    func tellOfHeldBack() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let isLast = Task.isCancelled
            for (what, count) in refusals.over(all: isLast) + strangers.over(all: isLast) {
                log.warn("refused \(counted(count, "more request")) of \(what)")
            }
        }
    }
}
