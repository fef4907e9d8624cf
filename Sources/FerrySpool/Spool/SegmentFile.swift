/// A segment's file, wherever in the spool it is.
public struct SegmentFile: Sendable {
    public let place: SegmentPlace
    public let name: String
    public let folder: Directory

    /// Opens the file; `nil` when it has gone since.
    public func open() throws(FileError) -> OpenFile? { try folder.open(name) }
}
