/// What came of trying to lock a file.
package enum Locking: Equatable, Sendable {
    case locked
    case heldByAnother
    /// The file system has no locks, or gives none to a descriptor that may not write.
    case refused(FileError)
}
