/// Whether delivered segments make room on a full disk. The uploader's options say how long they are kept; a writer finds it in the spool.
extension SentFolder {
    private static let givesWayName = "sent-gives-way"

    /// Whether the last uploader that kept delivered segments had no limit for how long.
    package var givesWay: Bool { ((try? spool.stateDirectory?.status(Self.givesWayName)) ?? nil)?.isRegular == true }

    /// Notes for writers what an uploader's options say, before it keeps a segment.
    ///
    /// - Returns: What was deleted to make room for the note.
    /// - Throws: ``FileError`` when writers would go on deleting. Where a permission to delete cannot be noted, they delete nothing.
    @discardableResult
    package func noteGivesWay(_ givesWay: Bool) throws(FileError) -> LedgerTotals.Count {
        guard let stateDirectory = spool.stateDirectory else { return .init() }
        guard givesWay else {
            guard try stateDirectory.contains(Self.givesWayName) else { return .init() }
            try stateDirectory.remove(Self.givesWayName)
            try stateDirectory.sync()
            return .init()
        }
        guard !self.givesWay else { return .init() }
        do throws(FileError) {
            _ = try stateDirectory.create(Self.givesWayName)
            return .init()
        } catch {
            // Without it a writer would find no room for ever, beside segments that are safe elsewhere.
            guard error.isDiskFull else { return .init() }
            guard let deleted = free(atLeast: .kibibytes(4)) else { return .init() }
            _ = try? stateDirectory.create(Self.givesWayName)
            return deleted
        }
    }

    /// Makes room in the lanes of a spool with several destinations, each of whose uploaders says whether what it keeps gives way. A file is gone when
    /// all of them have lost it, so each deletes as much.
    private func freeInLanes(atLeast size: ByteCount) -> LedgerTotals.Count? {
        var freed: LedgerTotals.Count?
        for name in (try? spool.lanes.names()) ?? [] {
            guard let lane = try? Spool.open(spool.lanes.path(of: name), access: .write), lane.sent.givesWay,
                let deleted = lane.sent.free(atLeast: size)
            else { continue }
            freed = freed ?? .init()
            freed?.add(deleted)
        }
        return freed
    }

    /// Does something that stores events; where the disk is full, delivered segments go for it, the oldest first.
    ///
    /// - Parameter freed: What was deleted is added.
    func storing<Result>(
        freed: inout LedgerTotals.Count, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        while true {
            do throws(FileError) {
                return try body()
            } catch {
                // What was stored in part and could not be cut off must not be stored again.
                guard error.isDiskFull, error.operation != "truncate" else { throw error }
                if let deleted = freeInLanes(atLeast: .mebibytes(1)) {
                    freed.add(deleted)
                    continue
                }
                guard givesWay else { throw error }
                if let deleted = free(atLeast: .mebibytes(1)) {
                    freed.add(deleted)
                } else {
                    // With nothing left to give way, the note is a file in the place of one that is needed. The next uploader makes it again.
                    guard error.lacksFiles, let stateDirectory = spool.stateDirectory,
                        (try? stateDirectory.remove(Self.givesWayName)) != nil
                    else {
                        throw error
                    }
                }
            }
        }
    }
}
