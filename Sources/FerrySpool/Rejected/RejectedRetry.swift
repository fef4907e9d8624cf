extension RejectedFolder {
    /// Makes a rejected segment pending again, as if it had never been tried, but for what was delivered of it. One that was salvaged stays: its
    /// events have left already, or will.
    public func retry(_ name: String, at now: Timestamp) throws(FileError) -> RetryResult {
        guard let folder = try spool.rejectedFolder(), let file = try folder.open(name) else { return .notFound }
        // A second rejection of one name was kept as `name~1`.
        let original = name.withoutCopyNumber
        guard original.isSegmentName else { return .noSegment }
        guard file.tryLock() else { return .busy }
        let reasonName = Spool.reasonName(of: name)
        let reason = try folder.readStateOfAnyKind(RejectionReason.self, from: reasonName) { _ in }
        if let salvaged = try salvaged(reason) { return .salvagedBefore(as: salvaged) }
        if let segment = SegmentName(original), try hasWholeCome(of: segment) { return .wholeCame }
        guard try !spool.directory.contains(original) else { return .nameTaken }
        // What was salvaged of a copy has the ID, and another time.
        if let segment = SegmentName(original), try hasPendingEvents(of: segment) { return .nameTaken }
        // What cannot be moved has no line in the ledger.
        try folder.requireMoves(into: spool.directory)
        try folder.requireChanges()
        try folder.requireTaking(name, owner: try file.status().owner)
        if let status = try folder.status(reasonName) { try folder.requireTaking(reasonName, owner: status.owner) }
        let line = LedgerEntry(at: now, segment: original, outcome: .retried, bytes: try file.status().size)
        try spool.room.lendingReserve { () throws(FileError) in try spool.ledger.append([line]) }
        // Before the segment itself: a process that finds that sends it.
        if let delivered = try delivered(ofRejected: name, reason, in: folder) {
            let sidecar = RetryState.inParts(at: now).with(delivered: delivered)
            try spool.room.lendingReserve { () throws(FileError) in
                try spool.directory.writeState(sidecar, to: Spool.sidecarName(of: original))
            }
        } else {
            try spool.sidecars.remove(of: original)
        }
        guard try folder.renameWithoutReplacing(name, to: original, in: spool.directory) else { return .nameTaken }
        do throws(FileError) {
            try folder.remove(reasonName)
        } catch {
            // A folder of its name counts as absent.
            guard error.isAboutKind else { throw error }
        }
        try spool.directory.sync()
        return .pending
    }

    /// Returns how much of a rejected segment was delivered before. Where a full disk had no room for its reason, its sidecar tells: in the reason's
    /// place, or where it was.
    func delivered(
        ofRejected name: String, _ reason: RejectionReason?, in folder: Directory
    ) throws(FileError) -> RetryState.Delivered? {
        if let reason { return reason.delivered }
        if let sidecar = try folder.readStateOfAnyKind(RetryState.self, from: Spool.reasonName(of: name), warn: { _ in }) {
            return sidecar.delivered
        }
        let original = name.withoutCopyNumber
        guard try !spool.directory.contains(original) else { return nil }
        return try spool.directory.readStateOfAnyKind(RetryState.self, from: Spool.sidecarName(of: original)) { _ in }?.delivered
    }
}
