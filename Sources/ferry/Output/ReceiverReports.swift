import FerryReceiver
import FerrySpool
import Synchronization

/// Says and counts what a receiver does.
final class ReceiverReports: Sendable {
    let metrics = ReceiverMetrics()
    private let log: Log
    private let failures = Pauses<Int32>(.seconds(60))
    private let refusals = Pauses<String>(.seconds(1))

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
            guard let skipped = refusals.next("\(sender) with \(refusal.status)") else { return }
            let more = skipped > 0 ? " (and \(skipped) more before)" : ""
            log.warn("refused a request of \(sender) with \(refusal.status): \(refusal.reason.printable(limit: 500))\(more)")
        case .failed(let error):
            // Every sender tries again.
            if failures.next(error.code) != nil { log.warn("cannot store what is received: \(error)") }
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

    /// Says how many refusals were held back whose second is over, until the task is cancelled; then of all.
    func tellOfHeldBack() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(1))
            let isLast = Task.isCancelled
            for (what, count) in refusals.over(all: isLast) { log.warn("refused \(counted(count, "more request")) of \(what)") }
        }
    }
}

/// Lets one thing of each kind through in a time, and counts the others.
private final class Pauses<Kind: Hashable & Sendable>: Sendable {
    private struct Last {
        var time: ContinuousClock.Instant
        var skipped = 0
    }

    private let pause: Duration
    private let last = Mutex<[Kind: Last]>([:])
    /// More are forgotten: each may be let through once more.
    private let mostKinds = 10_000

    init(_ pause: Duration) { self.pause = pause }

    /// - Returns: How many were not let through since the last one; `nil`: neither is this one.
    func next(_ kind: Kind, at now: ContinuousClock.Instant = .now) -> Int? {
        last.withLock { last in
            if let before = last[kind], now - before.time < pause {
                last[kind]?.skipped += 1
                return nil
            }
            if last.count >= mostKinds { last = [:] }
            defer { last[kind] = Last(time: now) }
            return last[kind]?.skipped ?? 0
        }
    }

    /// Those of which some were not let through, and whose time is over, with how many.
    func over(all: Bool, at now: ContinuousClock.Instant = .now) -> [(Kind, Int)] {
        last.withLock { last in
            let over = last.filter { $0.value.skipped > 0 && (all || now - $0.value.time >= pause) }
            for kind in over.keys { last[kind] = Last(time: now) }
            return over.map { ($0.key, $0.value.skipped) }
        }
    }
}
