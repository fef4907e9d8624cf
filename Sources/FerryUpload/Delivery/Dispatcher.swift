import FerrySpool
import Synchronization

/// Hands segments to the workers, and their outcomes to the plan and the books.
///
/// A lock instead of an actor: what it guards takes microseconds, and a worker keeps its thread.
final class Dispatcher: Sendable {
    /// One request to make, by its number: of a segment, or of several that go out together.
    struct Job: Sendable {
        let id: PassPlan.ID
        let lane: Int
        let tools: LaneTools
        let items: [Item]
        /// More of their kind follow, which had no room beside them.
        var isFull = false

        var size: ByteCount { items.reduce(.zero) { $0 + ($1.entry.size ?? .zero) } }
    }

    /// A segment to send.
    struct Item: Sendable {
        let name: String
        private(set) var entry: SpoolListing.Entry
        /// A scan saw journals, or can not have seen them.
        let mayBeUnfinished: Bool
        /// The scan saw nothing of an earlier try.
        var isPlain = false
        /// Others had it when it was looked at last.
        var wasTaken = false
        /// It has missed its deadline.
        let isLate: Bool
        /// Together with others it was refused.
        let goesAlone: Bool
        /// Waits that were noted before this moment are void.
        let forgetsWaitsBefore: Timestamp?

        /// Returns it with what a look at its sidecar has shown.
        func knowing(_ sidecar: RetryState?) -> Item {
            var item = self
            item.entry.hasSidecar = item.entry.hasSidecar || sidecar != nil
            return item
        }
    }

    /// Why a segment was not sent.
    enum SkipReason: Sendable {
        /// Its back-off is not over.
        ///
        /// - Parameter request: The key of the request that it is to be repeated in with others.
        case waits(until: Timestamp?, request: String? = nil)
        /// It cannot be opened, or not be locked.
        case unusable(FileError)
        /// It may be still being written.
        ///
        /// - Parameter request: As in ``waits(until:request:)``.
        case settles(until: Timestamp, request: String? = nil)
        /// Somebody else has it.
        case taken
        /// Others have, or must wait, that it is to go out with in this request.
        case torn(request: String)
        /// It ended without the destination.
        case ended
    }

    private struct Guarded {
        var delivery: DeliveryState
        /// Counts the changes, so that nobody waits for one that has happened.
        var changes = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<Guarded>
    /// Called when nothing is under way any more, from any thread.
    private let onIdle: @Sendable () -> Void

    init(_ delivery: sending DeliveryState, onIdle: @escaping @Sendable () -> Void = {}) {
        state = Mutex(Guarded(delivery: delivery))
        self.onIdle = onIdle
    }

    /// Looks at the state, without changing it.
    func read<Value: Sendable>(_ body: (borrowing DeliveryState) -> Value) -> Value {
        state.withLock { body($0.delivery) }
    }

    /// Changes the state, and lets waiting workers look again.
    @discardableResult
    func change<Value: Sendable>(_ body: (inout DeliveryState) -> Value) -> Value {
        let (value, waiters, isIdle, news) = state.withLock { state in
            let wasBusy = state.delivery.plan.isBusy
            let value = body(&state.delivery)
            state.changes += 1
            defer { state.waiters = [] }
            return (value, state.waiters, wasBusy && !state.delivery.plan.isBusy, state.delivery.takeNews())
        }
        for waiter in waiters { waiter.resume() }
        for piece in news { piece.onEvent(piece.event) }
        if isIdle { onIdle() }
        return value
    }

    /// The next job for a worker; `nil` when there is none left or nothing more is to be started.
    func next() async -> Job? {
        while true {
            if Task.isCancelled { stop(.interrupted) }
            let (step, changes, news) = state.withLock { ($0.delivery.next(), $0.changes, $0.delivery.takeNews()) }
            for piece in news { piece.onEvent(piece.event) }
            switch step {
            case .job(let job): return job
            case .done: return nil
            case .wait: await waitForChange(since: changes)
            }
        }
    }

    func skip(_ item: Item, of job: Job, _ reason: SkipReason) { change { $0.skip(item, of: job, reason) } }

    /// Segments of a job are left for later.
    ///
    /// - Parameter noted: How many of the first ones may have sidecars since they were taken.
    func putBack(_ items: some Collection<Item> & Sendable, of job: Job, noted: Int = 0) {
        change { $0.putBack(items, of: job, noted: noted) }
    }

    /// The link is bad: what comes next goes out one by one.
    func sendAlone(lane: Int) { change { $0.lanes[lane].alone = max($0.lanes[lane].alone, Coalescing.Room.mostSegments) } }

    func gathered(_ job: Job) { change { $0.gathered(job) } }

    func mayStart(_ job: Job) -> Bool { change { $0.mayStart(job) } }

    func abandon(_ job: Job) { change { $0.abandon(job) } }

    func breakUp(_ job: Job, _ items: [Item], _ verdict: Verdict, noted: Int) -> Job {
        change { $0.breakUp(job, items, verdict, noted: noted) }
    }

    func goOn(_ job: Job, _ ended: [PreparedSegment], _ outcome: Courier.Outcome, rest: [Item]) -> Job? {
        change { $0.goOn(job, ended, outcome, rest: rest) }
    }

    func finish(_ job: Job, _ segments: [PreparedSegment], _ outcome: Courier.Outcome) {
        var outcome = outcome
        // Calls of the kernel: nobody waits for them.
        outcome.changed = Set(segments.indices.filter { !segments[$0].claim.isUnchanged })
        change { [outcome] in $0.finish(job, segments, outcome) }
    }

    func stop(_ reason: PassPlan.StopReason) { change { $0.stop(reason) } }

    func fail(_ error: FileError, _ job: Job) { change { $0.fail(error, job) } }

    func fail(_ error: FileError, lane: Int) { change { $0.fail(error, lane: lane) } }

    private func waitForChange(since changes: Int) async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.changes == changes else { return false }
                state.waiters.append(continuation)
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }
}
