import Synchronization

/// How many requests of a machine are under way.
final class RequestCount: Sendable {
    private let count = Mutex(0)

    /// As many as an uploader makes at once, at most (`--parallel`).
    static let most = 256

    /// Counts a request that begins.
    ///
    /// - Returns: `false`: there are enough.
    func begin(most: Int) -> Bool {
        count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }

    var isIdle: Bool { count.withLock { $0 == 0 } }
}
