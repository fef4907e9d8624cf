package import FerrySpool

/// Why a pass that begins now does not send a pending segment.
package enum NotSentReason: Equatable, Sendable {
    /// Nothing at all leaves the spool.
    case standstill(Standstill)
    /// It is deleted first, for the reason that the ledger will have.
    case dropped(why: String)
    /// It travels by hand, in the bundle of this ID.
    case travels(bundle: String)
    /// It has missed its deadline, and such data is held back.
    case late
    /// In strict order it waits behind this one.
    case behind(String)
    /// The pass sends no more than its limit.
    case overLimit
    /// Its file cannot be examined.
    case unusable(FileError)
    /// Its own back-off is not over.
    case waits(until: Timestamp)
    /// It may be still being written.
    case beingWritten(until: Timestamp)
    /// It is no whole gzip file, and given up if it is none then.
    case unfinished(until: Timestamp)
}
