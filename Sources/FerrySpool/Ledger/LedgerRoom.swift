import Glibc

/// Room behind the ledger's last line. A block that a file has got belongs to it, so no sidecar takes it, and no other program: on a full disk each
/// ending still finds room for its line, and gives back at least a block.
extension Ledger {
    /// What most file systems give at least: some 20 lines.
    static let room: Int64 = 1 << 12
    /// With less there may be no room for the lines of what is under way.
    private static let leastRoom: Int64 = 1 << 11

    var isNearlyFull: Bool { spool.stateDirectory?.isNearlyFull ?? false }

    /// Returns whether what is under way may end, if no more room is to be had.
    func hasRoom(at now: Timestamp) -> Bool {
        do throws(FileError) {
            guard let file = try fileForLines(of: now) else { return false }
            try Self.setAside(Self.leastRoom, behind: file)
            return true
        } catch {
            return false
        }
    }

    /// Sets room for lines aside in the ledger, if there is any, where the disk is nearly full.
    func keepRoom(at now: Timestamp) {
        if isNearlyFull { try? setRoomAside(at: now) }
    }

    /// Sets room for lines aside in the ledger.
    ///
    /// - Throws: ``FileError``, where the disk is full for it. A file system that sets no room aside is no reason.
    func setRoomAside(at now: Timestamp) throws(FileError) {
        guard let file = try fileForLines(of: now) else { return }
        do throws(FileError) {
            return try Self.setAside(Self.room, behind: file)
        } catch {
            guard error.isDiskFull else { return }
        }
        // A part of it may be left.
        try Self.setAside(Self.leastRoom, behind: file)
    }

    private func fileForLines(of now: Timestamp) throws(FileError) -> OpenFile? {
        guard let stateDirectory = spool.stateDirectory, let name = try name(at: now) else { return nil }
        return try stateDirectory.open(name, flags: O_RDWR | O_NONBLOCK)
    }

    private static func setAside(_ room: Int64, behind file: OpenFile) throws(FileError) {
        let status = try file.status()
        guard status.isRegular else { throw FileError("set room aside in", file.path, code: EINVAL) }
        // There what is written takes new blocks, and more for the tree above them, even if the file has room set aside.
        guard !file.isCopiedOnWrite else { throw FileError("set room aside in", file.path, code: EOPNOTSUPP) }
        try file.setAside(room, at: status.size.bytes)
    }
}
