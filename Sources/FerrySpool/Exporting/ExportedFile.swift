/// Which file an exported segment is, independently of its name: a rename changes none of it.
package struct ExportedFile: Codable, Hashable, Sendable {
    private var inode: UInt
    private(set) var size: Int64
    private var modified: Timestamp

    /// Takes inode, size and modification time from a file's status.
    package init(_ status: FileStatus) {
        inode = status.identity.inode
        size = status.size.bytes
        modified = status.modified
    }

    /// Returns whether one may be a copy of the other, as rsync and cp -p make them.
    package func mayBeCopy(of other: ExportedFile) -> Bool { size == other.size && modified == other.modified }

    /// Returns whether the two are one file, written into meanwhile or not.
    func hasInode(of other: ExportedFile) -> Bool { inode == other.inode }
}
