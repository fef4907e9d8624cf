import FerrySpool

/// Nothing leaves a spool for a while, as its lanes cannot be used: those of other spools can.
struct SpoolHold: Equatable, Sendable {
    /// What is wrong with them, in words.
    private(set) var why: String
    /// When it is tried again.
    private(set) var until: Timestamp
    private var failures = 1

    private static let shortest = Duration.seconds(5)
    private static let longest = Duration.seconds(60)

    init(_ why: String, at now: Timestamp) {
        self.why = why
        until = now + Self.shortest
    }

    /// Begins it anew, for longer, unless what failed was begun before it.
    mutating func failed(_ why: String, at now: Timestamp) {
        guard isOver(at: now) else { return }
        failures = min(failures + 1, 10)
        self.why = why
        until = now + min(Self.shortest * (1 << (failures - 1)), Self.longest)
    }

    /// Has it tried now.
    mutating func end(at now: Timestamp) { until = min(until, now) }

    /// Returns whether it may be tried again. A wait that is longer than any that was meant is one before the clock was set back.
    func isOver(at now: Timestamp) -> Bool { now >= until || until - now > Self.longest }
}
