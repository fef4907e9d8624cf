import Synchronization

/// Gathers what happened until the loop reads it: a burst of events is handled at once.
final class SignalInbox<Signal: Sendable>: Sendable {
    private let pending = Mutex<[Signal]>([])
    private let doorbell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation

    init() { (doorbell, ring) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    func add(_ signal: Signal) {
        pending.withLock { $0.append(signal) }
        ring.yield()
    }

    /// Waits until something happens, and calls `body` with everything that did, until it returns `false` or the task is cancelled.
    func forEach(_ body: ([Signal]) async -> Bool) async {
        for await _ in doorbell {
            let signals = pending.withLock { pending in
                defer { pending = [] }
                return pending
            }
            if await !body(signals) { return }
        }
    }
}
