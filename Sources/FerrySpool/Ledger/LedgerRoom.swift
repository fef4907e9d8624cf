import CLinux
import Glibc

/// Room behind the ledger's last line. A block that a file has got belongs to it, so no sidecar takes it, and no other program: on a full disk each
/// ending still finds room for its line, and gives back at least a block.
extension Spool {
    /// What most file systems give at least: some 20 lines.
    static let ledgerRoom: Int64 = 1 << 12
    /// With less there may be no room for the lines of what is under way.
    private static let leastLedgerRoom: Int64 = 1 << 11
    /// With more the disk is not full.
    private static let ampleRoom = ByteCount.mebibytes(1)

    /// How many bytes of lines find room whatever else is written; 0 where no ledger is there.
    func roomInLedger(at now: Timestamp) -> Int64 {
        guard let stateDirectory, let name = try? nameOfLedger(at: now), let status = try? stateDirectory.status(name) else {
            return 0
        }
        return Self.room(in: status)
    }

    /// Whether what is under way may end, if no more room is to be had.
    func hasRoomInLedger(at now: Timestamp) -> Bool { roomInLedger(at: now) >= Self.leastLedgerRoom }

    /// Where the disk is nearly full, sets room for lines aside in the ledger, if there is any.
    func keepRoomInLedger(at now: Timestamp) {
        guard !hasRoom(for: Self.ampleRoom) else { return }
        try? setRoomInLedgerAside(at: now)
    }

    /// - Throws: ``FileError``, where the disk is full for it. A file system that sets no room aside is no reason.
    func setRoomInLedgerAside(at now: Timestamp) throws(FileError) {
        guard let stateDirectory, let name = try nameOfLedger(at: now) else { return }
        let file = try stateDirectory.open(name, flags: O_RDWR | O_NONBLOCK)
        let status = try file.status()
        guard status.isRegular, Self.room(in: status) < Self.leastLedgerRoom else { return }
        while fallocate(file.descriptor, FERRY_KEEP_SIZE, off_t(status.size.bytes), off_t(Self.ledgerRoom)) != 0 {
            if errno == EINTR { continue }
            let error = FileError("set room aside in", file.path)
            if error.isDiskFull { throw error }
            return
        }
    }

    private static func room(in status: FileStatus) -> Int64 {
        status.isRegular ? max(0, status.allocated.bytes - status.size.bytes) : 0
    }
}
