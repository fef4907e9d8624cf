/// What came of opening a file for its lock.
enum LockedOpening {
    case locked(OpenFile)
    case heldByAnother
    /// There is no such file.
    case absent
}
