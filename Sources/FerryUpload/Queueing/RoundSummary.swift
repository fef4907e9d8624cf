import FerrySpool

/// What one round over a spool's listing left behind.
struct RoundSummary: Sendable {
    /// Segments that ended, by this process or another one.
    var ended = 0
    /// Segments that another process has.
    private(set) var taken = 0
    /// The names of the first of them.
    private(set) var takenNames: [String] = []
    /// Segments that could not be opened or locked.
    private(set) var unusable = 0
    /// Why, for the first of them.
    private(set) var unusableReasons: [FileError] = []
    /// Files that are not whole, and may become so within minutes.
    private(set) var incomplete = 0
    /// When all files that may be still being written can be looked at again.
    private(set) var readyAt: Timestamp?

    private static let mostKept = 20

    /// Notes a file that may be still being written, and when it can be looked at again. One that is given minutes delays no round.
    mutating func noteBeingWritten(until moment: Timestamp, now: Timestamp) {
        guard moment - now <= ForeignFile.quietPeriod else {
            incomplete += 1
            return
        }
        readyAt = max(readyAt ?? moment, moment)
    }

    mutating func noteTaken(_ name: String) {
        taken += 1
        if takenNames.count < Self.mostKept { takenNames.append(name) }
    }

    mutating func note(_ error: FileError) {
        unusable += 1
        if unusableReasons.count < Self.mostKept { unusableReasons.append(error) }
    }
}
