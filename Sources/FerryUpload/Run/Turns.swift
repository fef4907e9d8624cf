import Synchronization

/// Who sends just now: a runner, or a pass of its program's that is to send everything at once. So there are never more requests at once than one
/// of them makes, and what is to leave in order does.
final class Turns: Sendable {
    private struct State {
        /// There is a runner, which is to be quiet first.
        var isRunning = false
        var isTaken = false
        var nextID = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var cancelled: Set<Int> = []

        mutating func grantNext() -> CheckedContinuation<Bool, Never>? {
            guard !isTaken, !waiting.isEmpty else { return nil }
            isTaken = true
            return waiting.removeFirst().continuation
        }
    }

    private let state = Mutex(State())
    private let onChange: @Sendable () -> Void

    /// - Parameter onChange: Called when the runner is to be quiet, or may go on.
    init(onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }

    /// Whether the runner is to begin nothing.
    var isWanted: Bool { state.withLock { $0.isTaken || !$0.waiting.isEmpty } }

    /// Waits until what is under way has ended. Returns whether the turn was taken: not where the task was cancelled before.
    func take() async -> Bool {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { state.withLock { _ = $0.cancelled.remove(id) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.contains(id) { return false }
                    if !state.isRunning, !state.isTaken {
                        state.isTaken = true
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) } else { onChange() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.cancelled.insert(id)
                return state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).continuation }
            }
            waiter?.resume(returning: false)
            onChange()
        }
    }

    func giveBack() {
        // The runner is as quiet as it was.
        state.withLock { state in
            state.isTaken = false
            return state.grantNext()
        }?.resume(returning: true)
        onChange()
    }

    func runnerBegins() { state.withLock { $0.isRunning = true } }

    /// Notes that the runner has nothing under way.
    func runnerIsQuiet() { state.withLock { $0.grantNext() }?.resume(returning: true) }

    func runnerEnds() {
        state.withLock { state in
            state.isRunning = false
            return state.grantNext()
        }?.resume(returning: true)
    }
}
