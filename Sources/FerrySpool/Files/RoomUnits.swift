import Glibc

/// What a file system gives its room out in.
package struct RoomUnits: Sendable {
    /// The size of a block in bytes: a file takes whole blocks.
    package let block: Int64
    /// How many more files there is room for; `nil` where that is decided as they come.
    package let files: Int64?
}

extension Directory {
    /// Of the folder's file system.
    package var roomUnits: RoomUnits {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return RoomUnits(block: 4096, files: nil) }
        return RoomUnits(
            block: max(1, Int64(clamping: status.f_frsize)),
            files: status.f_files > 0 ? Int64(clamping: status.f_favail) : nil)
    }
}
