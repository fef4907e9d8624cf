@preconcurrency import Dispatch
import Synchronization

/// Runs work that may hang, such as reading a file on a disk that does not answer, on a thread of its own. A cancelled task waits for it
/// no longer, and gets `nil`.
func abandonable<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
    let answer = Answer<Value>()
    DispatchQueue.global().async { answer.give(work()) }
    return await withTaskCancellationHandler {
        await withCheckedContinuation { answer.wait($0) }
    } onCancel: {
        answer.give(nil)
    }
}

/// The first answer counts.
private final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case open(CheckedContinuation<Value?, Never>?)
        case given(Value?)
    }

    private let state = Mutex(State.open(nil))

    func give(_ value: Value?) {
        let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard case .open(let waiter) = state else { return nil }
            state = .given(value)
            return waiter
        }
        waiter?.resume(returning: value)
    }

    func wait(_ continuation: CheckedContinuation<Value?, Never>) {
        let value: Value?? = state.withLock { state in
            if case .given(let value) = state { return value }
            state = .open(continuation)
            return .none
        }
        if let value { continuation.resume(returning: value) }
    }
}
