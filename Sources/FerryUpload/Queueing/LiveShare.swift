import FerrySpool

/// Shares turns between what is live, which goes first, and the backlog of an outage, which gets every fifth turn while both are there.
struct LiveShare: Equatable, Sendable {
    /// How many turns in a row were not the backlog's.
    private var turns = 0

    /// Turns of which the last is the backlog's.
    private static let period = 5
    /// What is younger is live: long enough for a try that failed and its back-off, short beside an outage.
    private static let age = Duration.seconds(300)
    /// The moment moves on in steps, so that a place that was looked up in a queue stands for a while.
    private static let step: Int64 = 10_000

    /// Whether the next turn is the backlog's, if there is any.
    var isBacklogsTurn: Bool { turns >= Self.period - 1 }

    /// Notes a turn.
    mutating func took(backlog: Bool) { turns = backlog ? 0 : min(turns + 1, Self.period - 1) }

    /// Returns from when on what was created is live.
    static func liveSince(at now: Timestamp) -> Timestamp {
        let moment = (now - age).milliseconds
        return Timestamp(milliseconds: moment - (moment % step + step) % step)
    }
}
