import NIOCore
import Synchronization

/// What is connected, or just being connected, and how to cut it off.
final class OpenConnections: Sendable {
    private let closers = Mutex<[ObjectIdentifier: @Sendable (String) -> Void]>([:])

    /// Adds an open connection.
    ///
    /// - Parameter close: Called with the reason, from any thread.
    func add(_ id: ObjectIdentifier, close: @escaping @Sendable (String) -> Void) { closers.withLock { $0[id] = close } }

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        add(id) { _ in channel.close(promise: nil) }
        channel.closeFuture.whenComplete { [weak self] _ in self?.remove(id) }
    }

    func remove(_ id: ObjectIdentifier) { closers.withLock { $0[id] = nil } }

    func closeAll(_ why: String) { for close in closers.withLock({ Array($0.values) }) { close(why) } }
}
