/// Why a segment could not be split.
package enum SplitError: Error {
    /// It holds one line, which is too large by itself.
    case singleLine
    /// Its ID is as long as an ID may be.
    case noRoom
    case damaged(GzipError)
    case file(FileError)
}
