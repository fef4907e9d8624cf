import FerrySpool
import Synchronization

/// How much is being gathered, for callers that count what a machine has here.
final class GatheredAmount: Sendable {
    private let amount = Mutex(ByteCount.zero)

    var bytes: ByteCount { amount.withLock { $0 } }
    func set(_ bytes: ByteCount) { amount.withLock { $0 = bytes } }
}
