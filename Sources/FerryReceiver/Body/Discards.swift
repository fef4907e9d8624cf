import FerrySpool
import Synchronization

/// Removes the files of one spool that come to nothing, one after the other on a thread that may block: the tasks of requests are all machines', and
/// a disk that stands still has many requests that break off.
final class Discards: Sendable {
    private struct State {
        var waiting: [Arrival] = []
        var isRunning = false
    }

    private let spool: Spool
    private let state = Mutex(State())

    init(_ spool: Spool) { self.spool = spool }

    func add(_ arrivals: some Sequence<Arrival>) {
        let isToBegin = state.withLock { state in
            state.waiting += arrivals
            guard !state.waiting.isEmpty, !state.isRunning else { return false }
            state.isRunning = true
            return true
        }
        if isToBegin { onBlockingThread { [self] in removeAll() } }
    }

    private func removeAll() {
        func next() -> [Arrival] {
            state.withLock { state in
                defer { state.waiting = [] }
                state.isRunning = !state.waiting.isEmpty
                return state.waiting
            }
        }
        while case let arrivals = next(), !arrivals.isEmpty { for arrival in arrivals { spool.arrivals.discard(arrival) } }
    }
}
