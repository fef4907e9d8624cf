import FerrySpool
import Synchronization

/// Keys from a service, asked for by the senders that need them. Nothing is asked before.
///
/// ``KeyRenewal`` decides, under a lock; the service is asked outside it.
final class ServedKeys: Sendable {
    /// Asks a service once.
    typealias Asking = @Sendable (KeyService) async -> Result<TemporaryKeys, KeyServiceError>

    private struct State {
        var renewal = KeyRenewal()
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let service: KeyService
    private let state = Mutex(State())
    private let start = ContinuousClock.now

    init(_ service: KeyService) { self.service = service }

    /// As they were given last; `nil` before ``renew(at:by:)`` has brought some.
    var value: S3Credentials? { state.withLock { $0.renewal.keys?.credentials } }

    /// Asks for keys where there are none that will do, or they end soon.
    ///
    /// - Returns: Why there are none.
    func renew(at time: Timestamp, by ask: Asking) async -> KeyServiceError? {
        await settle(at: time, by: ask) { $0.step(at: $1) }
    }

    /// Asks for others. Returns whether there are.
    func readAgain(by ask: Asking) async -> Bool {
        let time = Timestamp.now()
        _ = await settle(at: time, by: ask) { $0.stepAfterRefusal(at: $1) }
        return state.withLock { $0.renewal.wereReplaced(at: moment(time)) }
    }

    /// Returns, once, why they cannot be renewed.
    func untoldProblem() -> String? {
        state.withLock { $0.renewal.untoldProblem() }.map {
            "\(service.description) gives no new keys, the old ones stay: \($0)"
        }
    }

    private func moment(_ time: Timestamp) -> Moment { Moment(wall: time, steady: ContinuousClock.now - start) }

    private func settle(
        at time: Timestamp, by ask: Asking, _ next: (inout KeyRenewal, Moment) -> KeyRenewal.Step
    ) async -> KeyServiceError? {
        while true {
            let moment = moment(time)
            switch state.withLock({ next(&$0.renewal, moment) }) {
            case .use: return nil
            case .fail(let error): return error
            case .wait: await waitForAnswer()
            case .ask:
                let result = await ask(service)
                let isCancelled = Task.isCancelled
                note(result, isCancelled: isCancelled, at: self.moment(time))
                if isCancelled { return KeyServiceError(description: "stopped", isUnreachable: true) }
            }
        }
    }

    /// Takes what came of a question, and lets those go on that wait for it.
    private func note(_ result: Result<TemporaryKeys, KeyServiceError>, isCancelled: Bool, at now: Moment) {
        let waiting = state.withLock { state in
            // Who waits was not cancelled, and asks anew.
            if case .failure = result, isCancelled {
                state.renewal.gaveUp()
            } else {
                state.renewal.ended(result, at: now)
            }
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    private func waitForAnswer() async {
        await withCheckedContinuation { continuation in
            let isNeeded = state.withLock { state in
                guard state.renewal.isAsking else { return false }
                state.waiting.append(continuation)
                return true
            }
            if !isNeeded { continuation.resume() }
        }
    }
}
