/// A segment's file, wherever in the spool it is.
public struct SegmentFile: Sendable {
    /// Whether it is pending, sent or rejected.
    public let place: SegmentPlace
    /// The file's name.
    public let name: String
    /// The folder that it lies in.
    public let folder: Directory

    /// Opens the file; `nil` when it has gone since.
    public func open() throws(FileError) -> OpenFile? { try folder.open(name) }
}
