import FerrySpool
import Glibc

/// The room of a file system.
struct DiskSpace: Equatable, Sendable {
    /// What programs without privileges may still take.
    let free: ByteCount
    let size: ByteCount
    /// Tells it from others of this machine.
    let fileSystem: UInt

    init(free: ByteCount, size: ByteCount, fileSystem: UInt = 0) {
        self.free = free
        self.size = size
        self.fileSystem = fileSystem
    }

    /// Looks at the file system of a path; `nil` when it does not tell.
    init?(of path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        fileSystem = status.f_fsid
        let block = Int64(clamping: status.f_frsize)
        free = ByteCount(Int64(clamping: status.f_bavail).multiplying(by: block))
        size = ByteCount(Int64(clamping: status.f_blocks).multiplying(by: block))
    }
}
