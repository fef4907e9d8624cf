import Glibc

/// Ends segments: their lines in the ledger first, then their files.
package struct Endings: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Ends segments: first all lines of the ledger, durably, then the files. A crash in between repeats a line and loses none.
    ///
    /// Many at once cost one forced write to the ledger, and one to each folder.
    package func settle(_ endings: [Ending]) throws(FileError) {
        guard !endings.isEmpty else { return }
        try record(endings)
        try carryOut(endings).sync()
    }

    /// Carries out the first part of ``settle(_:)``: the ledger. It waits for the disk.
    ///
    /// - Parameter sentGivesWay: Where the disk is full, the oldest delivered segments are deleted for the lines.
    /// - Returns: What was deleted.
    @discardableResult
    package func record(_ endings: [Ending], sentGivesWay: Bool = false) throws(FileError) -> LedgerTotals.Count {
        try spool.room.making(sentGivesWay: sentGivesWay) { () throws(FileError) in try spool.ledger.append(endings.map(\.entry))
        }
    }

    /// Carries out the second part of ``settle(_:)``: the files, one by one. Only what is recorded may be carried out.
    ///
    /// - Parameters:
    ///   - earlier: The folders that an earlier call changed, when they are not yet forced to the disk.
    ///   - sentGivesWay: Where there is no room in `sent/` for a delivered segment, it is deleted.
    /// - Returns: The folders that changed, for the third part.
    /// - Throws: The first failure, when everything else is done.
    package func carryOut(
        _ endings: [Ending], after earlier: ChangedFolders? = nil, sentGivesWay: Bool = false
    ) throws(FileError) -> ChangedFolders {
        var changed = earlier ?? ChangedFolders(spool.directory)
        changed.deleted = .init()
        var failure: FileError?
        for ending in endings {
            do throws(FileError) {
                try carryOut(ending, &changed, sentGivesWay: sentGivesWay)
            } catch {
                failure = failure ?? error
            }
        }
        // What is free now may be gone at the next line.
        if let last = endings.last { spool.ledger.keepRoom(at: last.entry.at) }
        if let failure { throw failure }
        return changed
    }

    private func carryOut(_ ending: Ending, _ changed: inout ChangedFolders, sentGivesWay: Bool) throws(FileError) {
        // Replaced, written into or taken away by a program that ignores claims: what lies there now is not what was sent. Under another name
        // it is, and would be sent once more.
        guard let name = try spool.claims.currentName(of: ending.claim) else { return }
        switch ending.disposal {
        case .sent(keep: true):
            do throws(FileError) {
                try keep(name, at: ending.entry.at, &changed)
            } catch {
                guard error.isDiskFull else { throw error }
                guard sentGivesWay else {
                    // It is written down: where the disk has filled since it was sent, the reserve is for its move, too.
                    _ = try spool.room.making(sentGivesWay: false, leavesLedgerItsShare: true) { () throws(FileError) in
                        try keep(name, at: ending.entry.at, &changed)
                    }
                    break
                }
                try spool.directory.remove(name)
                changed.deleted.segments += 1
                changed.deleted.bytes += ending.entry.bytes
            }
        case .rejected(let reason):
            let rejected = try spool.directory.makeDirectory(Spool.rejectedName)
            do throws(FileError) {
                let freed = try spool.room.making(
                    sentGivesWay: sentGivesWay, leavesLedgerItsShare: true
                ) { () throws(FileError) in
                    try spool.directory.moveAside(name, into: rejected) { kept throws(FileError) in
                        try rejected.writeState(reason, to: Spool.reasonName(of: kept), durable: true)
                    }
                }
                changed.deleted.add(freed)
            } catch {
                // The ledger has the reason too, and a move needs no room.
                guard error.isDiskFull else { throw error }
                var kept = name
                try spool.directory.moveAside(name, into: rejected) { kept = $0 }
                changed.rejected = rejected
                // Without room for its name it stays where it is, for a retry.
                if reason.delivered != nil, !makeReason(reason, of: kept, fromSidecarOf: name, in: rejected) { return }
            }
            changed.rejected = rejected
        case .sent(keep: false), .expired, .evicted, .split:
            try spool.directory.remove(name)
        }
        if ending.hasSidecar, !spool.room.turnSidecarIntoReserve(of: name) { try spool.sidecars.remove(of: name) }
    }

    /// Makes the reason of a rejected segment from its sidecar. On a full disk the sidecar becomes the reason: it has a block, and tells what was
    /// delivered, which is not to be sent again.
    ///
    /// - Returns: Whether there is room for its name.
    private func makeReason(
        _ reason: RejectionReason, of kept: String, fromSidecarOf name: String, in rejected: Directory
    ) -> Bool {
        let reasonName = Spool.reasonName(of: kept)
        guard (try? spool.directory.renameWithoutReplacing(Spool.sidecarName(of: name), to: reasonName, in: rejected)) == true
        else {
            return false
        }
        var short = reason
        short.body = nil
        while (try? rejected.overwriteState(short, in: reasonName)) == false, !short.message.isEmpty {
            short.message = String(short.message.prefix(short.message.count / 2))
        }
        return true
    }

    private func keep(_ name: String, at time: Timestamp, _ changed: inout ChangedFolders) throws(FileError) {
        var tries = 1
        while true {
            do throws(FileError) {
                return try spool.directory.moveAside(name, into: try changed.sentFolder(of: time, in: spool))
            } catch {
                // What makes room in sent/ also removes the folder of a day that it has emptied, if need be today's.
                guard error.code == ENOENT, tries < Spool.mostFolderTries, changed.forgetsRemovedSentFolder() else { throw error }
                tries += 1
            }
        }
    }
}

extension Spool {
    /// Ends segments.
    package var endings: Endings { Endings(spool: self) }
}
