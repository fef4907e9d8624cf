import NIOCore

/// Tells a slow request from one that stands still: no I/O, no clock.
///
/// What moves shows by itself when it passes through the event loop. What drains from the kernel's buffer does not: so the kernel is asked,
/// but only when nothing else was seen for a while.
struct ProgressWatch {
    /// The longest time in which nothing may move.
    let timeout: TimeAmount
    private var movedAt = NIODeadline.uptimeNanoseconds(0)
    /// How far the bytes had come at the last look.
    private var seen: SocketProbe.Standing?

    init(timeout: TimeAmount) { self.timeout = timeout }

    /// How often to look: a standstill is noticed a quarter of the timeout late at most.
    var interval: TimeAmount { .nanoseconds(max(timeout.nanoseconds / 4, 1_000_000)) }

    /// Notes that a request begins.
    mutating func start(at now: NIODeadline) {
        movedAt = now
        seen = nil
    }

    /// Bytes went out or came in, or will not before this moment.
    mutating func moved(at now: NIODeadline) { movedAt = now }

    /// Returns whether nothing has moved for too long.
    ///
    /// - Parameter look: Asks the kernel.
    mutating func standsStill(at now: NIODeadline, look: () -> SocketProbe.Standing?) -> Bool {
        guard now - movedAt >= interval else { return false }
        let standing = look()
        // The first look has nothing to be compared with: it never ends a request.
        let hasLooked = seen != nil || standing == nil
        if let standing, let seen, standing != seen { movedAt = now }
        seen = standing
        return hasLooked && now - movedAt >= timeout
    }
}
