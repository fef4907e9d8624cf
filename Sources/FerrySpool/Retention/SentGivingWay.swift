/// Whether delivered segments make room on a full disk. The uploader is told how long they are kept; a writer finds it in the spool.
extension Spool {
    private static let givesWayName = "sent-gives-way"

    /// Whether the last uploader that kept delivered segments was not told for how long.
    public var sentGivesWay: Bool { ((try? stateDirectory?.status(Self.givesWayName)) ?? nil)?.isRegular == true }

    /// Notes for writers what an uploader was told, before it keeps a segment.
    ///
    /// - Throws: ``FileError`` when writers would go on deleting. Where they cannot be told that they may, they delete nothing.
    public func noteSentGivesWay(_ givesWay: Bool) throws(FileError) {
        guard let stateDirectory, givesWay != sentGivesWay else { return }
        if givesWay {
            _ = try? stateDirectory.create(Self.givesWayName)
        } else {
            try stateDirectory.remove(Self.givesWayName)
            try stateDirectory.sync()
        }
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
                guard error.isDiskFull, error.operation != "truncate", sentGivesWay else { throw error }
                let deleted = freeSent(atLeast: .mebibytes(1))
                guard deleted.segments > 0 else { throw error }
                freed.add(deleted)
            }
        }
    }
}
