extension Spool {
    /// Returns the retry state of a segment, `nil` when it has none that can be read.
    public func sidecar(
        of segment: String, warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetryState? {
        let state = try directory.readStateOfAnyKind(RetryState.self, from: Self.sidecarName(of: segment), warn: warn)
        guard let content = state?.content, let size = try directory.status(segment)?.size.bytes else { return state }
        return size == content.bytes ? state : nil
    }

    /// Returns the retry state of a claimed segment. That of another content, which a file from another tool had under its name, is removed.
    public func sidecar(of claim: Claim, warn: (UnreadableState) -> Void = { _ in }) throws(FileError) -> RetryState? {
        let name = Self.sidecarName(of: claim.name)
        guard let state = try directory.readStateOfAnyKind(RetryState.self, from: name, warn: warn) else { return nil }
        if try claim.has(state.content) { return state }
        try removeSidecar(of: claim.name)
        return nil
    }

    /// Where a sidecar's block comes from on a full disk.
    public enum SidecarRoom: Sendable {
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
    public func writeSidecar(
        _ state: RetryState, of claim: Claim, with room: SidecarRoom = .reserve
    ) throws(FileError) {
        var state = state
        if claim.segmentName == nil {
            state.content = RetryState.Content(
                bytes: claim.status.size.bytes, modified: claim.status.modified,
                sha256: (try? claim.digest().hexadecimal) ?? "")
        }
        let name = Self.sidecarName(of: claim.name)
        do throws(FileError) {
            func write() throws(FileError) { try directory.writeState(state, to: name) }
            switch room {
            case .reserve: try lendingReserve(write)
            case .reserveButForSplits: try lendingReserve(leavesSplitItsShare: true, write)
            case .blocks: try lendingBlocksOfReserve(write)
            }
        } catch {
            // One that is there needs no room.
            guard error.isDiskFull else { throw error }
            if (try? directory.overwriteState(state, in: name)) == true { return }
            guard room == .blocks, turnReserveIntoSidecar(name, JSONLine.encode(state)) else { throw error }
        }
    }

    /// Removes a segment's sidecar. A folder of its name counts as absent, and stays.
    package func removeSidecar(of segment: String) throws(FileError) {
        do throws(FileError) {
            try directory.remove(Self.sidecarName(of: segment))
        } catch {
            guard error.isAboutKind else { throw error }
        }
    }
}

extension Claim {
    /// Whether it is what a sidecar is about. The whole file is read only where its time says that it may be another.
    fileprivate func has(_ content: RetryState.Content?) throws(FileError) -> Bool {
        guard let content, segmentName == nil else { return true }
        guard content.bytes == status.size.bytes else { return false }
        if content.modified == status.modified { return true }
        return try digest().hexadecimal == content.sha256
    }
}
