import FerrySpool
import FerryUpload

/// Gathers how the destinations of many spools are, by their URLs.
struct DestinationGathering {
    private var byURL: [String: HubReport.Destination] = [:]

    /// The worst first.
    var all: [HubReport.Destination] {
        byURL.values.sorted { left, right in
            let (one, other) = (Self.rank(left.breaker), Self.rank(right.breaker))
            return one != other ? one > other : left.url < right.url
        }
    }

    /// Adds what a spool, or a lane, says of the destination that it is sent to, or was last, or was to be.
    mutating func add(_ spool: Spool, _ locks: HeldLocks, at now: Timestamp) {
        let mark = ((try? spool.uploaderMark.read(locks)) ?? nil)?.mark
        let sent = ((try? spool.ledger.latest(Self.linesRead)) ?? []).first { $0.outcome == .sent && $0.destination != nil }
        // Where nothing was ever delivered, a failure alone tells of the destination.
        let failed = Standstill.failure(of: spool.failingDestinations { _ in }, for: mark)
        guard let url = mark?.destination ?? failed?.destination ?? sent?.destination else { return }
        let state = spool.destinations.states { _ in }.first { $0.id == DestinationID.id(of: url) }?.state
        var destination = byURL[url] ?? HubReport.Destination(url: url, spools: 0, breaker: .closed)
        destination.spools += 1
        if let state {
            destination.add(state, at: now)
        } else if let sent, sent.destination == url, destination.breaker == .closed,
            sent.at > destination.lastAnswerAt ?? .distantPast
        {
            destination.lastAnswer = sent.status.map { "status \($0)" } ?? "delivered"
            destination.lastAnswerAt = sent.at
        }
        byURL[url] = destination
    }

    /// Of each ledger.
    private static let linesRead = 20

    fileprivate static func rank(_ breaker: HubReport.Destination.Breaker) -> Int {
        switch breaker {
        case .closed: 0
        case .halfOpen: 1
        case .open: 2
        }
    }
}

extension HubReport.Destination {
    /// Adds how it failed as one spool has it: the worst is shown, and of equal ones the latest.
    fileprivate mutating func add(_ state: RetryState, at now: Timestamp) {
        let wait = state.wait(at: now, longestWait: BackOff.standard.longestWait)
        let own = wait.map { Breaker.open(until: $0) } ?? .halfOpen
        let (rank, known) = (DestinationGathering.rank(own), DestinationGathering.rank(breaker))
        failingSince = min(failingSince ?? state.firstAttemptAt, state.firstAttemptAt)
        guard rank > known || rank == known && state.lastAttemptAt > lastAnswerAt ?? .distantPast else { return }
        breaker = own
        lastAnswer = state.lastError.message
        lastAnswerAt = state.lastAttemptAt
    }
}
