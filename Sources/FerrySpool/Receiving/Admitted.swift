/// What became of an arrival.
package enum Admitted: Equatable, Sendable {
    /// It is a segment.
    case stored
    /// There is a segment of its name already; the arrival is removed, and its key is not logged with this call.
    case nameTaken
    /// Its key was logged while it came in; the arrival is removed.
    case known
    /// Its key is logged, but it could not get its name: it stays as it is, and the next process that opens the spool goes on.
    case left(FileError)
}
