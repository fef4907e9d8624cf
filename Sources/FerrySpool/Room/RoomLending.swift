import Glibc

/// What is done with the reserve on a full disk.
extension SpoolRoom {
    /// For the ledger's lines, the notes of a request, and the halves of splits.
    private static let splitShare = 3 * Reserve.part

    /// Does something that needs a little room; where the disk is full, with a part of the reserve, which is set aside again afterwards. The
    /// ledger keeps the rest, no matter what other processes do with the part. Where it is files that there is no room for, the reserve is one.
    ///
    /// - Parameter leavesSplitItsShare: As much is left as splits need, of what is free as well: for what can be done without.
    package func lendingReserve<Result>(
        leavesSplitItsShare: Bool = false, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        if leavesSplitItsShare, let stateDirectory = spool.stateDirectory, Reserve(in: stateDirectory).keep(),
            Reserve(in: stateDirectory).bytes < ledgerGets(of: Self.splitShare) + Reserve.part
        {
            throw FileError("leave room for splits in", spool.path, code: ENOSPC)
        }
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isDiskFull, let stateDirectory = spool.stateDirectory else { throw error }
            let share = ledgerGets(of: leavesSplitItsShare ? Self.splitShare : Reserve.part)
            let isLent =
                error.lacksFiles ? Reserve(in: stateDirectory).giveUp() : lendReserve(in: stateDirectory, leaving: share)
            guard isLent else { throw error }
        }
        defer { if let stateDirectory = spool.stateDirectory { Reserve(in: stateDirectory).keep() } }
        do throws(FileError) {
            return try body()
        } catch {
            guard error.lacksFiles, let stateDirectory = spool.stateDirectory, Reserve(in: stateDirectory).giveUp() else {
                throw error
            }
            return try body()
        }
    }

    private func lendReserve(in state: Directory, leaving share: Int64) -> Bool {
        Reserve(in: state).shorten { size in
            let rest = size - Reserve.part
            // As long as there is nothing to send, there is nothing to write into the ledger.
            return rest >= share || rest == 0 && (try? spool.scan())?.entries.isEmpty == true ? rest : nil
        }
    }

    /// Returns what of the reserve is the ledger's: it has a part of its share already, where that is set aside in its file.
    private func ledgerGets(of share: Int64) -> Int64 {
        spool.ledger.hasRoom(at: .now()) ? share - min(share, Ledger.room) : share
    }

    /// Does something that needs room and ends no segment. Where the disk is full, delivered segments go for it if they give way, or else all
    /// of the reserve is lent but for the ledger's share, and where that is not enough, but for a block. What is not needed of it is set aside again.
    package func lendingMostOfReserve<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        var failure: FileError
        do throws(FileError) {
            return try body()
        } catch {
            guard error.isOutOfSpace else { throw error }
            failure = error
        }
        if freesSent() {
            do throws(FileError) {
                return try body()
            } catch {
                guard error.isOutOfSpace else { throw error }
                failure = error
            }
        }
        guard let stateDirectory = spool.stateDirectory else { throw failure }
        defer { Reserve(in: stateDirectory).keep() }
        if failure.lacksFiles {
            guard Reserve(in: stateDirectory).giveUp() else { throw failure }
            return try body()
        }
        // A block is some 20 of the ledger's lines, and each of them frees one at least.
        for share in [Reserve.part, Reserve.block] {
            let left = ledgerGets(of: share)
            guard Reserve(in: stateDirectory).shorten(to: { $0 > left ? left : nil }) else { continue }
            do throws(FileError) {
                return try body()
            } catch {
                guard error.isOutOfSpace else { throw error }
                failure = error
            }
        }
        throw failure
    }

    /// Does something that needs a block, while many want one; where the disk is full, with one block of the reserve after the other. The ledger
    /// keeps what it has in its file, or else its share of the reserve: without either nothing is done, though a block be free.
    package func lendingBlocksOfReserve<Result>(_ body: () throws(FileError) -> Result) throws(FileError) -> Result {
        guard let stateDirectory = spool.stateDirectory else { return try body() }
        if !spool.ledger.isNearlyFull {
            // There may be no room for new files, or a quota, which the file system does not tell of.
            do throws(FileError) { return try body() } catch { guard error.isDiskFull else { throw error } }
        }
        let now = Timestamp.now()
        try? spool.ledger.setRoomAside(at: now)
        let share = spool.ledger.hasRoom(at: now) ? 0 : Reserve.part
        if share > 0, Reserve(in: stateDirectory).keep(), Reserve(in: stateDirectory).bytes < share, !freesSent() {
            throw FileError("leave room for the ledger in", spool.path, code: ENOSPC)
        }
        defer { Reserve(in: stateDirectory).keep() }
        while true {
            do throws(FileError) {
                return try body()
            } catch {
                guard error.isDiskFull else { throw error }
                let isThereMore =
                    freesSent()
                    || (error.lacksFiles
                        ? Reserve(in: stateDirectory).giveUp()
                        : Reserve(in: stateDirectory).shorten { $0 >= share + Reserve.block ? $0 - Reserve.block : nil })
                guard isThereMore else { throw error }
            }
        }
    }

    /// Deletes delivered segments that give way to what is stored. Returns whether there were any.
    func freesSent() -> Bool {
        guard spool.sent.givesWay, let deleted = spool.sent.free(atLeast: ByteCount(Reserve.whole)) else { return false }
        return deleted.segments > 0
    }

    /// Does something that needs room; where the disk is full, with the reserve.
    ///
    /// - Parameters:
    ///   - sentGivesWay: Delivered segments are deleted first, the oldest before the others.
    ///   - leavesLedgerItsShare: The last of the reserve is for lines in the ledger, without which nothing ends.
    /// - Returns: What was deleted.
    func making(
        sentGivesWay: Bool, leavesLedgerItsShare: Bool = false, _ body: () throws(FileError) -> Void
    ) throws(FileError) -> LedgerTotals.Count {
        var freed = LedgerTotals.Count()
        var failure: FileError
        do throws(FileError) {
            try body()
            return freed
        } catch {
            guard error.isDiskFull else { throw error }
            failure = error
        }
        let deleted = sentGivesWay ? spool.sent.free(atLeast: ByteCount(Reserve.whole)) : nil
        if let deleted { freed = deleted }
        var isTidied = spool.removeLeftPublications()
        // Another process may have taken the reserve's place as a file. When the last segment was dated its name tells, too.
        if failure.mayLackFiles, (try? spool.stateDirectory?.remove(SpoolClock.creationName)) != nil { isTidied = true }
        if deleted != nil || isTidied {
            do throws(FileError) {
                try body()
                return freed
            } catch {
                guard error.isDiskFull else { throw error }
                failure = error
            }
        }
        guard let stateDirectory = spool.stateDirectory else {
            try body()
            return freed
        }
        // What is left of it is set aside again at once, before another program takes it.
        defer { Reserve(in: stateDirectory).keep() }
        // By parts: any process may take what is free.
        let share = leavesLedgerItsShare ? Reserve.part : 0
        while failure.lacksFiles ? Reserve(in: stateDirectory).giveUp() : Reserve(in: stateDirectory).lendPart(leaving: share) {
            do throws(FileError) {
                try body()
                return freed
            } catch {
                guard error.isDiskFull else { throw error }
                failure = error
            }
        }
        try body()
        return freed
    }

    /// Turns the reserve into a sidecar. The ledger must have room of its own.
    func turnReserveIntoSidecar(_ name: String, _ content: [UInt8]) -> Bool {
        guard let stateDirectory = spool.stateDirectory, spool.ledger.hasRoom(at: .now()) else { return false }
        defer { Reserve(in: stateDirectory).keep() }
        return Reserve(in: stateDirectory).turn(into: name, in: spool.directory, content)
    }

    /// Turns a sidecar that is done with into the reserve, where there is none.
    func turnSidecarIntoReserve(of segment: String) -> Bool {
        spool.stateDirectory.map { Reserve(in: $0).take(Spool.sidecarName(of: segment), of: spool.directory) } ?? false
    }
}

extension SentFolder {
    /// Makes the folder that segments delivered at `time` are kept in, before what they need of the ledger has taken the room for it.
    package func prepareFolder(at time: Timestamp) throws(FileError) {
        _ = try spool.room.lendingMostOfReserve { () throws(FileError) in try spool.sentFolder(at: time) }
    }
}
