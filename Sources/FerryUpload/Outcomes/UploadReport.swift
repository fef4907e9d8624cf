public import FerrySpool

/// What an upload pass did.
public struct UploadReport: Sendable {
    /// Segments that were delivered and have ended, with their bytes.
    public var sent = LedgerTotals.Count()
    /// Events in them, as far as known.
    public var sentEvents: Int64 = 0
    /// Events that were delivered of segments which have not ended with it: the rest of them is still to be sent.
    public var partEvents: Int64 = 0
    /// Events that were delivered of segments which were rejected after that.
    public var rejectedPartEvents: Int64 = 0
    /// How many of them the destination knew already, as it said.
    public var duplicates = 0
    /// Segments that were rejected.
    public var rejected = 0
    /// Segments that were replaced by their halves.
    public var split = 0
    /// Pending segments that this pass leaves behind and that no other process is just sending.
    public var remaining = 0
    /// Pending segments that another process has: an uploader, an export, or a writer. They are not among those that remain.
    public var taken = 0
    /// The first of them.
    public var takenNames: [String] = []
    /// Why the pass ended before everything was tried; `nil` when everything due was.
    public var stopReason: StopReason?
    /// The destination is not to be tried before this moment.
    public var destinationWaitsUntil: Timestamp?
    /// What the limits of size and age dropped before the pass.
    public var retention = RetentionReport()
    /// What was deleted from `sent/` because its time was over, or the disk full.
    public var sentDeleted = LedgerTotals.Count()
    /// Journals and arrivals that could not be finished, at the last try.
    public var unfinished: [RecoveryError] = []
    /// Segments that could not be opened or locked, or were to be rejected and could not be.
    public var unusable = 0
    /// Why, for the first of them.
    public var unusableReasons: [FileError] = []
    /// Of those that remain, how many are no whole gzip files and may be still being written.
    public var incomplete = 0
    /// Of those that remain, how many missed their deadline and are held for it.
    public var heldLate = 0
    /// Files in the spool that are no segments.
    public var others = OtherFiles()
    /// Pending segments that travel by hand; they are neither sent nor among those that remain.
    public var travelling: [TravellingBundle] = []
    /// Whether the spool was paused or disabled: then nothing was done.
    public var control = SpoolControl()

    /// Creates the report of a pass that has done nothing.
    public init() {}

    mutating func noteUnusable(_ error: FileError) {
        unusable += 1
        if unusableReasons.count < Self.mostReasons { unusableReasons.append(error) }
    }

    private static let mostReasons = 20
}
