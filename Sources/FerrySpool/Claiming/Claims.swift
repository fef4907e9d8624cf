import Glibc

/// The locks under which one process at a time works on a segment.
package struct Claims: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Claims a segment.
    ///
    /// - Parameter mayBeUnfinished: `false` when a scan that listed the segment saw no journal: then none can be left of it.
    package func take(_ name: String, mayBeUnfinished: Bool = true) -> ClaimResult {
        do throws(FileError) {
            let file: OpenFile
            var laneLock: PlaceLock?
            if let locks = spool.laneLocks {
                guard let opened = try spool.directory.open(name) else { return .gone }
                file = opened
                switch locks.tryLocking(try opened.status().identity) {
                case .locked(let lock): laneLock = lock
                case .heldByAnother: return .busy
                case .refused(let error): return .unusable(error)
                }
            } else {
                switch try spool.directory.openLocked(name) {
                case .absent: return .gone
                case .heldByAnother: return .busy
                case .locked(let opened): file = opened
                }
            }
            let status = try file.status()
            guard status.isRegular else { return .unusable(FileError("claim", spool.directory.pathOf(name), code: EINVAL)) }
            // Between the opening and the lock, another uploader may have sent it and moved it away.
            guard try spool.directory.status(name)?.identity == status.identity else { return .gone }
            // What cannot be ended must not be begun: it would be sent at every look.
            try spool.directory.requireTaking(name, owner: status.owner)
            let segmentName = SegmentName(name)
            if let segmentName, try isBeingMade(segmentName, mayHaveJournal: mayBeUnfinished) { return .busy }
            return .claimed(
                Claim(name: name, segmentName: segmentName, file: file, status: status, laneLock: laneLock))
        } catch {
            return .unusable(error)
        }
    }

    /// Returns whether the name still belongs to the claimed file, and the file still has the content that was claimed.
    func holds(_ claim: Claim) throws(FileError) -> Bool {
        guard let status = try spool.directory.status(claim.name) else { return false }
        return try claim.hasContent(status)
    }

    /// Returns the name that the claimed file has now, with the content that was claimed: its own, or the one that a program gave it within the
    /// folder meanwhile. `nil` when it is no pending segment any more.
    func currentName(of claim: Claim) throws(FileError) -> String? {
        if try holds(claim) { return claim.name }
        var found: (name: String, status: FileStatus)?
        var unexamined: FileError?
        try spool.directory.forEachName { name in
            guard found == nil, EntryKind(name) == .segment || EntryKind(name) == .foreign else { return }
            do throws(FileError) {
                guard let status = try spool.directory.statusOfListed(name), status.content == claim.status.content else {
                    return
                }
                found = (String(decoding: name, as: UTF8.self), status)
            } catch {
                unexamined = error
            }
        }
        // It may be the one that could not be looked at.
        if found == nil, let unexamined { throw unexamined }
        guard let found, try claim.hasContent(found.status) else { return nil }
        return found.name
    }

    /// Returns whether what a published segment is made from is still there. A published segment is not ready to leave while what it is made from is
    /// still there: a crash in that moment would make it a second time.
    private func isBeingMade(_ segment: SegmentName, mayHaveJournal: Bool) throws(FileError) -> Bool {
        if mayHaveJournal, try spool.directory.contains(segment.journalName), try !spool.journals.finishSealing(segment) {
            return true
        }
        guard let parent = segment.splitParent else { return false }
        return try spool.directory.contains(parent.fileName)
    }
}

extension Spool {
    /// The locks under which one process at a time works on a segment.
    package var claims: Claims { Claims(spool: self) }
}
