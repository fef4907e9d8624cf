import CLinux
import Glibc

extension OpenFile {
    /// Whether its file system writes nothing where it was: btrfs, ZFS, bcachefs (linux/magic.h and theirs).
    var isCopiedOnWrite: Bool {
        var system = statfs()
        guard fstatfs(descriptor, &system) == 0 else { return false }
        return [0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e].contains(UInt32(truncatingIfNeeded: system.f_type))
    }

    /// Sets room aside for `room` bytes, so that other writes cannot take it. What of it is there already takes nothing: a file's number of blocks
    /// does not tell, for ext4 counts those of its extents' tree.
    func setAside(_ room: Int64, at offset: Int64) throws(FileError) {
        while fallocate(descriptor, FERRY_KEEP_SIZE, off_t(offset), off_t(room)) != 0 {
            if errno != EINTR { throw FileError("set room aside in", path) }
        }
    }

    /// Requires room for a number of bytes at an offset.
    ///
    /// - Throws: ``FileError`` where the disk is full for it. A file system that sets no room aside tells when it is written.
    func requireRoom(for count: Int64, at offset: Int64) throws(FileError) {
        do throws(FileError) { try setAside(count, at: offset) } catch { if error.isDiskFull { throw error } }
    }
}

extension Directory {
    /// Whether the disk may be too full for what is under way.
    var isNearlyFull: Bool {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return false }
        // Not what is free: ext4 keeps some of that to itself.
        let room = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(max(1, status.f_frsize)))
        return !room.overflow && room.partialValue < Self.ampleRoom
    }

    private static let ampleRoom: UInt64 = 1 << 20
}
