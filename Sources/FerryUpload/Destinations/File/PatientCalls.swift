@preconcurrency import Dispatch
import Synchronization

/// Runs work on a folder that may not answer, as a share whose server is gone, each on a thread of its own: the wait for it may end before it does.
///
/// While work that was left to itself hangs, no other is begun: as many threads hang at most as there were at once.
final class PatientCalls: Sendable {
    /// How a wait ended.
    enum End<Value: Sendable>: Sendable {
        case finished(Value)
        /// Nothing moved for too long, or what was left to itself hangs still.
        case hangs
        /// The waiting task was cancelled.
        case cancelled
    }

    private let hanging = Atomic(0)

    /// - Parameters:
    ///   - patience: The longest time in which nothing may move.
    ///   - work: Notes with ``PatientCall/moved()`` when something moved. Once it is left to itself, its value goes nowhere.
    func run<Value: Sendable>(
        patience: Duration, _ work: @escaping @Sendable (PatientCall) -> Value
    ) async -> End<Value> {
        guard hanging.load(ordering: .relaxed) <= 0 else { return .hangs }
        let (call, answer) = (PatientCall(), FirstAnswer<End<Value>>())
        let leave = { @Sendable [self] (end: End<Value>) in
            call.leave()
            if answer.give(end) { hanging.add(1, ordering: .relaxed) }
        }
        // A queue of one kind of work has a thread of its own, however many others hang.
        DispatchQueue(label: "ferry.folder").async { [self] in
            if !answer.give(.finished(work(call))) { hanging.subtract(1, ordering: .relaxed) }
        }
        let watch = Task { if await call.standsStill(for: patience) { leave(.hangs) } }
        defer { watch.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { answer.wait($0) }
        } onCancel: {
            leave(.cancelled)
        }
    }
}

/// Work that is waited for as long as something moves.
final class PatientCall: Sendable {
    private let moves = Atomic(0)
    private let isLeftToItself = Atomic(false)

    /// Nothing waits for it any more: it is to end when it can, and to change nothing.
    var isLeft: Bool { isLeftToItself.load(ordering: .relaxed) }

    func moved() { moves.add(1, ordering: .relaxed) }

    func leave() { isLeftToItself.store(true, ordering: .relaxed) }

    /// Waits until nothing has moved for so long, at most a quarter longer. Returns `false` when the task is cancelled before.
    fileprivate func standsStill(for patience: Duration) async -> Bool {
        var (seen, since) = (moves.load(ordering: .relaxed), ContinuousClock.now)
        while ContinuousClock.now - since < patience {
            do { try await Task.sleep(for: patience / 4) } catch { return false }
            let current = moves.load(ordering: .relaxed)
            if current != seen { (seen, since) = (current, .now) }
        }
        return true
    }
}

/// The first answer counts.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private enum State {
        case open(CheckedContinuation<Value, Never>?)
        case given(Value)
    }

    private let state = Mutex(State.open(nil))

    /// Returns whether it is the first.
    func give(_ value: Value) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            guard case .open(let waiter) = state else { return (false, nil) }
            state = .given(value)
            return (true, waiter)
        }
        waiter?.resume(returning: value)
        return isFirst
    }

    func wait(_ continuation: CheckedContinuation<Value, Never>) {
        let value: Value? = state.withLock { state in
            if case .given(let value) = state { return value }
            state = .open(continuation)
            return nil
        }
        if let value { continuation.resume(returning: value) }
    }
}
