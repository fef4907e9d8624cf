public import FerrySpool
import HTTPTypes

/// What a receiver tells while it runs, from any thread.
public enum ReceiverEvent: Sendable {
    /// A segment was answered with 200.
    case received(ReceivedSegment, from: Sender)
    /// A request was answered with an error.
    case refused(Refusal)
    /// A request was refused for a spool's folder or its disk.
    case failed(FileError, from: Sender)
    /// Delivered segments were deleted from `sent/`, because the disk was full.
    case sentDeleted(LedgerTotals.Count)
    /// Keys of old days were forgotten.
    ///
    /// - Parameter of: The machine's; `nil` where the receiver has none.
    case keysForgotten(KeysForgotten, of: MachineName?)
    case warning(String)
}
