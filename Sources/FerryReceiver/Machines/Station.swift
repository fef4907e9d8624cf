import FerrySpool
import Synchronization

/// Where one machine's segments go: its spool, and what its limits have counted.
struct Station: Sendable {
    let handler: SegmentHandler
    let account: MachineAccount

    var usage: SpoolUsage { account.usage }
    var meter: RateMeter { account.meter }
    var requests: RequestCount { account.requests }
    var spool: Spool { handler.spool }
}

/// What a machine's limits have counted, also while its spool is closed.
struct MachineAccount: Sendable {
    let usage = SpoolUsage()
    let meter = RateMeter()
    let requests = RequestCount()
}

/// Follows what a machine sends, where it has a rate.
final class RateMeter: Sendable {
    private let allowance = Mutex<RateAllowance?>(nil)

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

/// How many requests of a machine are under way.
final class RequestCount: Sendable {
    private let count = Mutex(0)

    /// As many as an uploader makes at once, at most (`--parallel`).
    static let most = 256

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
