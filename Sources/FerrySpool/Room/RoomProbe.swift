import Glibc

/// Whether what is to be sent can be written down, and moved.
extension SpoolRoom {
    /// Sees whether endings can be written down and carried out: what cannot be must not be sent.
    ///
    /// - Parameters:
    ///   - keepsSent: Delivered segments are moved into `sent/`.
    ///   - sentGivesWay: Where the disk is full, they are deleted.
    /// - Throws: ``FileError``, where the disk is full only if there is no reserve either, or, with hardly any room for new files, if what an
    ///   ending needs cannot be made at once.
    package func probe(
        isDurable: Bool = true, keepsSent: Bool = true, sentGivesWay: Bool = false, at now: Timestamp = .now()
    ) throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else {
            throw spool.stateFailure ?? FileError("write into", spool.path, code: EROFS)
        }
        var (lacksFiles, isFull) = (false, false)
        do throws(FileError) {
            try Self.tryWriting(into: stateDirectory, isDurable: isDurable)
            lacksFiles = stateDirectory.hasFewFiles(left: Self.filesOfAnEnding)
        } catch {
            lacksFiles = error.lacksFiles
            guard lacksFiles || error.isDiskFull else { throw error }
            isFull = !lacksFiles
            if !lacksFiles, keepsSent, !sentGivesWay {
                throw FileError("keep what is delivered in", "\(spool.path)/\(Spool.sentName)", code: error.code)
            }
            if !lacksFiles, Reserve(in: stateDirectory).bytes == 0, !spool.ledger.hasRoom(at: now) {
                _ = try making(sentGivesWay: keepsSent && sentGivesWay) { () throws(FileError) in
                    try Self.tryWriting(into: stateDirectory, isDurable: isDurable)
                }
            }
        }
        if isFull {
            // Once a request is answered, it is too late to find out.
            do throws(FileError) {
                _ = try making(sentGivesWay: keepsSent && sentGivesWay, leavesLedgerItsShare: true) { () throws(FileError) in
                    try spool.ledger.makeFirst(at: now)
                }
            } catch {
                // The reserve is a file, too.
                if error.mayLackFiles, Reserve(in: stateDirectory).giveUp() {
                    defer { Reserve(in: stateDirectory).keep() }
                    try spool.ledger.makeFirst(at: now)
                } else if try !turnReserveIntoLedger(at: now) {
                    throw error
                }
            }
            do throws(FileError) {
                _ = try making(sentGivesWay: keepsSent && sentGivesWay) { () throws(FileError) in
                    try spool.ledger.setRoomAside(at: now)
                }
            } catch {
                guard error.isDiskFull else { throw error }
            }
        }
        if lacksFiles {
            _ = try making(sentGivesWay: keepsSent && sentGivesWay) { () throws(FileError) in
                try spool.ledger.make(at: now)
                if keepsSent, !sentGivesWay { _ = try spool.sentFolder(at: now) }
            }
        }
        if keepsSent, !sentGivesWay, !lacksFiles { try requireRoomToKeep(in: stateDirectory) }
        try spool.ledger.probe(at: now)
        try spool.directory.requireChanges()
        if keepsSent { try probeSent(at: now) }
    }

    /// Requires room to keep what is delivered, which frees nothing: each segment takes a name in `sent/`, and sometimes a block
    /// for names, besides its line in the ledger. Where the disk is full, the first ones would be sent, and could be neither moved nor written down.
    private func requireRoomToKeep(in state: Directory) throws(FileError) {
        guard let room = Self.room(in: state), room < Self.roomToKeep else { return }
        throw FileError("keep what is delivered in", "\(spool.path)/\(Spool.sentName)", code: ENOSPC)
    }

    private static func tryWriting(into state: Directory, isDurable: Bool) throws(FileError) {
        try state.replace("probe", with: [UInt8](repeating: 0x20, count: 4096), durable: isDurable)
        try state.remove("probe")
    }

    /// The ledger, `sent/` and the folder of a day; and what other programs make meanwhile.
    private static let filesOfAnEnding: UInt = 8

    /// Sees whether segments can be moved into `sent/`. A folder that is a link, or lies on another file system, takes no segment.
    private func probeSent(at now: Timestamp) throws(FileError) {
        guard let sent = try spool.sentFolder() else { return }
        let day = try sent.contains(now.day) ? sent.directory(now.day) : sent
        try spool.directory.requireMoves(into: day)
    }

    /// Sees whether a segment can be moved into `rejected/`, which is made if need be. What cannot be carried out is not written down.
    ///
    /// - Parameter leavesRoom: Where the disk is full, what is rejected waits: others may leave before it.
    package func probeRejected(leavesRoom: Bool = true) throws(FileError) {
        let rejected = try lendingMostOfReserve { () throws(FileError) in try spool.directory.makeDirectory(Spool.rejectedName) }
        try spool.directory.requireMoves(into: rejected)
        guard leavesRoom else { return }
        // It frees nothing, and what can be sent needs the reserve for its lines.
        func isShort(_ state: Directory) -> Bool {
            Reserve(in: state).bytes < Reserve.whole - Reserve.part
                && Self.room(in: state).map { $0 < Self.roomToKeep } ?? false
        }
        guard let stateDirectory = spool.stateDirectory, isShort(stateDirectory) else { return }
        if freesSent() {
            Reserve(in: stateDirectory).keep()
            if !isShort(stateDirectory) { return }
        }
        throw FileError("move what is rejected into", "\(spool.path)/\(Spool.rejectedName)", code: ENOSPC)
    }

    /// Sees that the reserve is whole before more is stored. What comes in would take each block that an ending gives back, and what cannot be
    /// written down cannot be sent: the disk would stay full for ever.
    func requireReserve() throws(FileError) {
        guard let stateDirectory = spool.stateDirectory else { return }
        // XFS wants more room to make a file than the reserve has: the first line is not to depend on it.
        if !suffices(for: Self.roomOfLargeSegments) { Ledger.makeFirst(in: stateDirectory) }
        guard Reserve(in: stateDirectory).keep() else { return }
        throw FileError("set room aside for the ledger in", stateDirectory.path, code: ENOSPC)
    }

    private func turnReserveIntoLedger(at now: Timestamp) throws(FileError) -> Bool {
        guard let stateDirectory = spool.stateDirectory, try spool.ledger.names().isEmpty else { return false }
        return Reserve(in: stateDirectory).turn(into: Ledger.name(now.compactDay), in: stateDirectory, [])
    }

    /// Returns how many bytes the file system has room for; `nil` where it does not tell, or that is more than a number.
    private static func room(in state: Directory) -> Int64? {
        var status = statvfs()
        guard fstatvfs(state.descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
        // Not what is free: ext4 keeps some of that to itself.
        let room = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: Int64(clamping: max(1, status.f_frsize)))
        return room.overflow ? nil : room.partialValue
    }

    /// Returns whether the file system has room for more than `bytes`, or does not tell. A quota may have less.
    package func suffices(for bytes: ByteCount) -> Bool {
        spool.stateDirectory.flatMap(Self.room).map { $0 > bytes.bytes } ?? true
    }

    /// What may be stored before the next look.
    private static let roomOfLargeSegments = ByteCount.mebibytes(64)

    /// For the lines and the names of as many segments as may be under way.
    private static let roomToKeep: Int64 = 1 << 18
}
