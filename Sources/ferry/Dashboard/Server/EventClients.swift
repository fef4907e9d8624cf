import Synchronization

/// How many readers are told of changes.
final class EventClients: Sendable {
    /// One of them, for as long as this lives.
    final class Place: Sendable {
        private let clients: EventClients

        fileprivate init(_ clients: EventClients) { self.clients = clients }

        deinit { clients.count.withLock { $0 -= 1 } }
    }

    private let count = Mutex(0)

    /// More get none, and load the page now and then.
    static let most = 16

    /// Counts one that begins; `nil` where there are enough.
    func begin() -> Place? {
        let isFree = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        return isFree ? Place(self) : nil
    }
}
