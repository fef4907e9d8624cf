import FerrySpool

/// Why a segment was not sent.
enum SkipReason: Sendable {
    /// Its back-off is not over.
    ///
    /// - Parameter request: The key of the request that it is to be repeated in with others.
    case waits(until: Timestamp?, request: String? = nil)
    /// It cannot be opened, or not be locked.
    case unusable(FileError)
    /// It may be still being written.
    ///
    /// - Parameter request: As in ``waits(until:request:)``.
    case beingWritten(until: Timestamp, request: String? = nil)
    /// Another process has it.
    ///
    /// - Parameter request: As in ``waits(until:request:)``.
    case taken(request: String? = nil)
    /// Other processes have, or must wait, what it is to go out with in this request.
    case torn(request: String)
    /// It ended without the destination.
    case ended
}
