import FerrySpool
import Synchronization

/// Follows what a machine sends, where it has a rate.
final class RateMeter: Sendable {
    private let allowance = Mutex<RateAllowance?>(nil)

    /// Asks whether a machine may begin a request now.
    ///
    /// - Parameter rate: `nil`: any.
    /// - Returns: How long it must wait before its next request; `nil`: not at all.
    func wait(_ rate: ByteCount?, at now: ContinuousClock.Instant = .now) -> Duration? {
        allowance.withLock { allowance in
            guard let rate else {
                allowance = nil
                return nil
            }
            var current = allowance ?? RateAllowance(rate, at: now)
            defer { allowance = current }
            return current.wait(rate, at: now)
        }
    }

    func charge(_ bytes: Int) { allowance.withLock { $0?.charge(bytes) } }
}
