package import FerrySpool

/// A pending segment and what it waits for.
package struct PendingSegment: Sendable {
    /// What the segment waits for, as far as its own files tell.
    package enum State: Equatable, Sendable {
        case due
        /// Its own back-off, or its destination's, is not over.
        case waits(until: Timestamp)
        /// It may be still being written.
        case beingWritten(until: Timestamp)
        /// It is no whole gzip file, and given up if it is none then.
        case unfinished(until: Timestamp)
        /// It travels by hand, in the bundle of this ID, and waits for its receipt.
        case exported(bundle: String)
    }

    package let name: String
    package let priority: Priority
    package let created: Timestamp
    package let size: ByteCount
    package let state: State
    /// `nil` when it was never tried.
    package let retry: RetryState?
    /// Why its file cannot be examined.
    package let failure: FileError?
    /// What its header and notes tell, where they were looked at.
    package let notes: Examination?
}
