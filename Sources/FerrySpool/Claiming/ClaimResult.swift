/// What came of trying to claim a segment.
package enum ClaimResult: Sendable {
    case claimed(Claim)
    /// Another process has it: another uploader, a writer that is just publishing it, or a split that is under way.
    case busy
    /// It is not there any more.
    case gone
    /// It is no regular file, or may not be opened, or not be locked (``FileError/isLocking``).
    case unusable(FileError)
}
