import FerrySpool

/// Returns a line on delivered segments that gave way.
func sentDeletedText(_ deleted: LedgerTotals.Count) -> String {
    "deleted \(counted(deleted.segments, "delivered segment")) (\(deleted.bytes)) from sent/: the disk was full"
}
