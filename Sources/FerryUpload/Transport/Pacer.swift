import FerrySpool
import Synchronization

/// Spreads bytes evenly over time: each piece is given the moment at which it may leave.
struct Pacer: Sendable {
    /// A second; `nil`: no limit.
    var limit: ByteCount?
    /// When everything that was let through is paid for.
    private var paid = Duration.zero

    /// What may leave at once after a pause: it keeps every second within a few percent of the limit.
    private static let burst = Duration.milliseconds(50)

    init(limit: ByteCount? = nil) { self.limit = limit }

    /// Lets bytes through, and returns how long they have to wait first.
    ///
    /// - Parameter now: Time since any fixed moment.
    mutating func wait(for size: ByteCount, now: Duration) -> Duration {
        guard let limit else { return .zero }
        let start = max(paid, now - Self.burst)
        paid = start + .seconds(Double(size.bytes) / Double(limit.bytes))
        return max(.zero, start - now)
    }

    /// Bytes that are written at a time: a twentieth of a second's, so that the stream is smooth with few system calls.
    var piece: ByteCount {
        guard let limit else { return TransportOptions.filePiece }
        return min(max(ByteCount(limit.bytes / 20), ByteCount(512)), TransportOptions.filePiece)
    }
}

/// The pacer that all connections share.
final class Throttle: Sendable {
    private let pacer: Mutex<Pacer>
    private let start = ContinuousClock.now

    init(limit: ByteCount? = nil) { pacer = Mutex(Pacer(limit: limit)) }

    /// Bytes a second; `nil`: no limit.
    var limit: ByteCount? {
        get { pacer.withLock(\.limit) }
        set { pacer.withLock { $0.limit = newValue } }
    }

    var piece: ByteCount { pacer.withLock(\.piece) }

    func wait(for size: ByteCount) -> Duration {
        let now = ContinuousClock.now - start
        return pacer.withLock { $0.wait(for: size, now: now) }
    }
}

/// How fast bytes may leave, and how slowly.
struct DeliveryPace: Sendable {
    let throttle: Throttle
    /// The longest time in which nothing may move.
    let patience: Duration
}
