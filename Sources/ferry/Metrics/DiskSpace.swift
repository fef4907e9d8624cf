import FerrySpool
import Glibc

/// The room of a file system.
struct DiskSpace: Equatable, Sendable {
    /// What programs without privileges may still take.
    let free: ByteCount
    let size: ByteCount

    init(free: ByteCount, size: ByteCount) {
        self.free = free
        self.size = size
    }

    /// Looks at the file system of a path; `nil` when it does not tell.
    init?(of path: String) {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let block = Int64(clamping: status.f_frsize)
        free = ByteCount(Int64(clamping: status.f_bavail).multiplying(by: block))
        size = ByteCount(Int64(clamping: status.f_blocks).multiplying(by: block))
    }
}
