public import FerrySpool

/// What acknowledging a receipt did.
public struct Acknowledgement: Equatable, Sendable {
    /// Now in `sent/`, but for what is ``deleted``.
    public var sent = 0
    /// The size of the segments that are ``sent``.
    public var bytes = ByteCount.zero
    /// Not pending any more: sent another way, dropped by a limit, or acknowledged before.
    public var alreadyGone = 0
    /// Still pending, with other bytes than the hub has: due again, as they are now.
    public var changed = 0
    /// Another process was just sending them, or they cannot be read; acknowledge again later.
    public var busy = 0
    /// Delivered segments, these among them, that were deleted because the disk is full.
    public var deleted = LedgerTotals.Count()
    /// Why one of them could not be opened, locked or read.
    public var failure: FileError?
    /// In the bundle, and in none of its receipts: due again. Told with the last of them.
    public var missing = 0
}
