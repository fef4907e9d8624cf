import FerrySpool
import Synchronization

/// How much is being gathered, for those who count what a machine has here.
final class GatheredAmount: Sendable {
    private let amount = Mutex(ByteCount.zero)

    var bytes: ByteCount { amount.withLock { $0 } }
    func set(_ bytes: ByteCount) { amount.withLock { $0 = bytes } }
}
