import Glibc

/// What lets a full disk drain: an ending needs a line in the ledger before its segment may go, and a line needs room.
extension Spool {
    private static let reserveName = "reserve"
    private static let reserveSize = 1 << 15

    /// Sees whether endings can be written down: what cannot be must not be sent.
    ///
    /// - Throws: ``FileError``, where the disk is full only if there is no reserve either.
    public func probe(isDurable: Bool = true) throws(FileError) {
        guard let stateDirectory else { throw stateFailure ?? FileError("write into", path, code: EROFS) }
        do throws(FileError) {
            try stateDirectory.replace("probe", with: [UInt8](repeating: 0x20, count: 4096), durable: isDurable)
            try stateDirectory.remove("probe")
        } catch {
            guard error.isOutOfSpace, (try? stateDirectory.contains(Self.reserveName)) == true else { throw error }
        }
    }

    /// Sets room aside, where it is not and the disk has it.
    static func keepReserve(in state: Directory) {
        guard (try? state.contains(reserveName)) == false, let file = try? state.create(reserveName) else { return }
        if posix_fallocate(file.descriptor, 0, off_t(reserveSize)) != 0 { try? state.remove(reserveName) }
    }

    /// Does something that needs room; where the disk is full, with the reserve.
    ///
    /// - Parameter sentGivesWay: Delivered segments are deleted first, the oldest before the others.
    /// - Returns: What was deleted.
    func makingRoom(
        sentGivesWay: Bool, _ body: () throws(FileError) -> Void
    ) throws(FileError) -> LedgerTotals.Count {
        var freed = LedgerTotals.Count()
        do throws(FileError) {
            try body()
            return freed
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
        if sentGivesWay { freed = freeSent(atLeast: ByteCount(Int64(Self.reserveSize))) }
        if freed.segments > 0 {
            do throws(FileError) {
                try body()
                return freed
            } catch {
                guard error.isOutOfSpace else { throw error }
            }
        }
        try? stateDirectory?.remove(Self.reserveName)
        try body()
        return freed
    }
}
