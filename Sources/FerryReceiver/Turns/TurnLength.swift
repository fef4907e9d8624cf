import Synchronization

/// The same for a request whose work is done on other threads, one piece at a time.
final class TurnLength: Sendable {
    private let slice = Mutex(TurnSlice())

    var bytes: Int { slice.withLock(\.bytes) }

    /// Runs a piece of work, and goes by the time that it takes.
    func measure<Value>(_ work: () -> Value) -> Value {
        let start = ContinuousClock.now
        let value = work()
        slice.withLock { $0.adapt(to: .now - start) }
        return value
    }
}
