/// How many batches are about to come to a round of the committer, by the round that they are in time for.
///
/// A round waits for those that approached before it, and serves them with its own forced writes. What approaches later is in time for the next one:
/// no round waits without end.
struct Approaching {
    private var round = 0
    private var (earlier, later) = (0, 0)

    /// Notes one more.
    ///
    /// - Returns: The number of its round, for ``end(_:)``.
    mutating func begin() -> Int {
        later += 1
        return round
    }

    /// Ends a round's approach: one has come, or does not come.
    mutating func end(_ round: Int) {
        if round == self.round { later -= 1 } else { earlier -= 1 }
    }

    /// Begins a round: what approaches from now on is in time for the next one.
    mutating func beginRound() {
        earlier += later
        later = 0
        round += 1
    }

    /// Whether all that approached before the round have ended.
    var isComplete: Bool { earlier == 0 }
}
