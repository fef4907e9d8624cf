import CLinux
import Glibc

/// Room behind the ledger's last line. A block that a file has got belongs to it, so no sidecar takes it, and no other program: on a full disk each
/// ending still finds room for its line, and gives back at least a block.
extension Spool {
    /// What most file systems give at least: some 20 lines.
    static let ledgerRoom: Int64 = 1 << 12
    /// With less there may be no room for the lines of what is under way.
    private static let leastLedgerRoom: Int64 = 1 << 11

    var isNearlyFull: Bool { stateDirectory?.isNearlyFull ?? false }

    /// Whether what is under way may end, if no more room is to be had.
    func hasRoomInLedger(at now: Timestamp) -> Bool {
        do throws(FileError) {
            guard let file = try ledgerForLines(of: now) else { return false }
            try Self.setAside(Self.leastLedgerRoom, behind: file)
            return true
        } catch {
            return false
        }
    }

    /// Where the disk is nearly full, sets room for lines aside in the ledger, if there is any.
    func keepRoomInLedger(at now: Timestamp) {
        if isNearlyFull { try? setRoomInLedgerAside(at: now) }
    }

    /// - Throws: ``FileError``, where the disk is full for it. A file system that sets no room aside is no reason.
    func setRoomInLedgerAside(at now: Timestamp) throws(FileError) {
        guard let file = try ledgerForLines(of: now) else { return }
        do throws(FileError) {
            return try Self.setAside(Self.ledgerRoom, behind: file)
        } catch {
            guard error.isDiskFull else { return }
        }
        // A part of it may be left.
        try Self.setAside(Self.leastLedgerRoom, behind: file)
    }

    private func ledgerForLines(of now: Timestamp) throws(FileError) -> OpenFile? {
        guard let stateDirectory, let name = try nameOfLedger(at: now) else { return nil }
        return try stateDirectory.open(name, flags: O_RDWR | O_NONBLOCK)
    }

    private static func setAside(_ room: Int64, behind file: OpenFile) throws(FileError) {
        let status = try file.status()
        guard status.isRegular else { throw FileError("set room aside in", file.path, code: EINVAL) }
        // There what is written takes new blocks, and more for the tree above them, whatever the file has.
        guard !file.isCopiedOnWrite else { throw FileError("set room aside in", file.path, code: EOPNOTSUPP) }
        try file.setAside(room, at: status.size.bytes)
    }
}

extension OpenFile {
    /// Whether its file system writes nothing where it was: btrfs, ZFS, bcachefs (linux/magic.h and theirs).
    fileprivate var isCopiedOnWrite: Bool {
        var system = statfs()
        guard fstatfs(descriptor, &system) == 0 else { return false }
        return [0x9123_683e, 0x2fc1_2fc1, 0xca45_1a4e].contains(UInt32(truncatingIfNeeded: system.f_type))
    }

    /// Sees that so many bytes find room, whatever else is written. What of it is there already takes nothing: a file's number of blocks does not tell, for
    /// ext4 counts those of its extents' tree.
    fileprivate func setAside(_ room: Int64, at offset: Int64) throws(FileError) {
        while fallocate(descriptor, FERRY_KEEP_SIZE, off_t(offset), off_t(room)) != 0 {
            if errno != EINTR { throw FileError("set room aside in", path) }
        }
    }

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
