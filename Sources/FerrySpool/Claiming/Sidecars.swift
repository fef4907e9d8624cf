/// The retry states of segments, each in a file beside its segment.
package struct Sidecars: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Returns the retry state of a segment, `nil` when it has none that can be read.
    package func read(
        of segment: String, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetryState? {
        let state = try spool.directory.readStateOfAnyKind(RetryState.self, from: Spool.sidecarName(of: segment), warn: warn)
        guard let content = state?.content, let size = try spool.directory.status(segment)?.size.bytes else { return state }
        return size == content.bytes ? state : nil
    }

    /// Returns the retry state of a claimed segment. That of another content, which a file from another tool had under its name, is removed.
    package func read(of claim: Claim, warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> RetryState? {
        let name = Spool.sidecarName(of: claim.name)
        guard let state = try spool.directory.readStateOfAnyKind(RetryState.self, from: name, warn: warn) else { return nil }
        if try claim.has(state.content) { return state }
        try remove(of: claim.name)
        return nil
    }

    /// Where a sidecar's block comes from on a full disk.
    package enum Room: Sendable {
        /// A part of the reserve.
        case reserve
        /// A part of the reserve that splits can do without: for a sidecar that can be done without. Where all segments are too large for the
        /// destination, nothing but splits makes room.
        case reserveButForSplits
        /// One block of the reserve after the other, where the ledger has its share: for one of many.
        case blocks
    }

    /// Writes the retry state. Only the holder of the segment's claim may write it. On a full disk it takes a part of the reserve, or is written
    /// where it lies.
    package func write(
        _ state: RetryState, of claim: Claim, with room: Room = .reserve
    ) throws(FileError) {
        var state = state
        if claim.segmentName == nil {
            state.content = RetryState.Content(
                bytes: claim.status.size.bytes, modified: claim.status.modified,
                sha256: (try? claim.digest().hexadecimal) ?? "")
        }
        let name = Spool.sidecarName(of: claim.name)
        do throws(FileError) {
            func write() throws(FileError) { try spool.directory.writeState(state, to: name) }
            switch room {
            case .reserve: try spool.room.lendingReserve(write)
            case .reserveButForSplits: try spool.room.lendingReserve(leavesSplitItsShare: true, write)
            case .blocks: try spool.room.lendingBlocksOfReserve(write)
            }
        } catch {
            // One that is there needs no room.
            guard error.isDiskFull else { throw error }
            if (try? spool.directory.overwriteState(state, in: name)) == true { return }
            guard room == .blocks, spool.room.turnReserveIntoSidecar(name, JSONLine.encode(state)) else { throw error }
        }
    }

    /// Removes a segment's sidecar. A folder of its name counts as absent, and stays.
    package func remove(of segment: String) throws(FileError) {
        do throws(FileError) {
            try spool.directory.remove(Spool.sidecarName(of: segment))
        } catch {
            guard error.isAboutKind else { throw error }
        }
    }
}

extension Spool {
    /// The retry states of segments.
    package var sidecars: Sidecars { Sidecars(spool: self) }
}

extension Claim {
    /// Returns whether it is what a sidecar is about. The whole file is read only where its time says that it may be another.
    fileprivate func has(_ content: RetryState.Content?) throws(FileError) -> Bool {
        guard let content, segmentName == nil else { return true }
        guard content.bytes == status.size.bytes else { return false }
        if content.modified == status.modified { return true }
        return try digest().hexadecimal == content.sha256
    }
}
