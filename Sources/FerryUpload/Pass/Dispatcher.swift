import FerrySpool
import Synchronization

/// Hands segments to the workers of a pass, and their outcomes to the plan and the books.
///
/// A lock instead of an actor: what it guards takes microseconds, and a worker keeps its thread.
final class Dispatcher: Sendable {
    /// A segment to send, by its number in the pass.
    struct Job: Sendable {
        let id: PassPlan.ID
        let name: String
        let isForeign: Bool
        let hasSidecar: Bool
        /// The scan saw journals.
        let mayBeUnfinished: Bool
        /// The scan saw what may be its half.
        let mayBeHalfSplit: Bool
        /// When the scan began.
        let scannedAt: Timestamp
    }

    /// Why a segment was not sent.
    enum SkipReason: Sendable {
        /// Its back-off is not over, or it cannot be opened.
        case waits
        /// It may be still being written.
        case settles(until: Timestamp)
        /// Somebody else has it.
        case taken
        /// It ended without the destination.
        case ended
    }

    private struct Guarded {
        var pass: PassState
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<Guarded>

    init(_ pass: sending PassState) { state = Mutex(Guarded(pass: pass)) }

    var stopReason: PassPlan.StopReason? { state.withLock(\.pass.plan.stopReason) }
    var tally: PassState.Tally { state.withLock(\.pass.tally) }
    var remaining: Int { state.withLock(\.pass.remaining) }
    var failure: FileError? { state.withLock(\.pass.failure) }

    /// When the destination is tried again, if it has to be waited for.
    func destinationWaitsUntil(now: Timestamp) -> Timestamp? { state.withLock { $0.pass.health.waitsUntil(now: now) } }

    func begin(_ listing: SpoolListing) { state.withLock { $0.pass.begin(listing) } }

    /// The next segment for a worker; `nil` when there is none left or nothing more is to be started.
    func next() async -> Job? {
        while true {
            if Task.isCancelled { stop(.interrupted) }
            switch state.withLock({ $0.pass.next() }) {
            case .job(let job): return job
            case .done: return nil
            case .wait: await waitForChange()
            }
        }
    }

    func skip(_ job: Job, _ reason: SkipReason) { change { $0.skip(job, reason) } }

    func finish(_ job: Job, _ segment: PreparedSegment, _ verdict: Verdict) { change { $0.finish(job, segment, verdict) } }

    func endRound() { change { $0.endRound() } }

    func stop(_ reason: PassPlan.StopReason) { change { $0.stop(reason) } }

    func fail(_ error: FileError) { change { $0.fail(error) } }

    private func change(_ body: (inout PassState) -> Void) {
        let waiters = state.withLock { state in
            body(&state.pass)
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func waitForChange() async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                // It may have changed since the plan said to wait.
                guard state.pass.plan.next() == .wait else { return false }
                state.waiters.append(continuation)
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }
}
