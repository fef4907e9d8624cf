/// A segment's file, wherever in the spool it is.
package struct SegmentFile: Sendable {
    /// Whether it is pending, sent or rejected.
    package let place: SegmentPlace
    /// The file's name.
    package let name: String
    /// The folder that it lies in.
    package let folder: Directory

    /// Opens the file; `nil` when it has gone since.
    package func open() throws(FileError) -> OpenFile? { try folder.open(name) }
}
