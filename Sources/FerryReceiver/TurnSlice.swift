import Synchronization

/// How much of a body is worked on in one turn: so much that others wait for some milliseconds only, however far it inflates.
struct TurnSlice: Equatable, Sendable {
    /// From 256 to 16,384: what a bomb inflates to before it is noticed is a thousand times as much.
    private(set) var bytes = most

    private static let most = BodyIntake.step
    private static let least = 256
    /// A turn that took longer is followed by shorter ones, until they take less than a quarter of it.
    private static let longest = Duration.milliseconds(8)

    /// The last turn took so long.
    mutating func adapt(to duration: Duration) {
        if duration > Self.longest {
            bytes = max(Self.least, bytes / 4)
        } else if duration < Self.longest / 4 {
            bytes = min(Self.most, bytes * 2)
        }
    }
}

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
