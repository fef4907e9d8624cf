import FoundationEssentials

/// Finishes and removes what processes that died left in a spool.
public struct Housekeeping: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Removes what killed processes left: sidecars without a segment, and hidden files that no process is writing; and the notes of ways of
    /// segments that have ended. What cannot be removed stays.
    ///
    /// - Returns: How many files were removed.
    package func cleanUp(_ listing: SpoolListing, now: Timestamp = .now()) -> Int {
        var removed = 0
        let rejected = try? spool.rejectedFolder()
        // One may tell what was delivered of a rejected segment, where a full disk had no room for a reason.
        let kept = listing.orphanSidecars.isEmpty ? [] : Set(((try? rejected?.names()) ?? []).map { ForeignName.stem(of: $0) })
        for stem in listing.orphanSidecars
        where !kept.contains(stem) && (try? spool.directory.contains(stem)) == false && isSidecar(of: stem) {
            if (try? spool.directory.remove("\(stem)\(EntryKind.sidecarSuffix)")) != nil { removed += 1 }
        }
        for name in listing.temporaries where (try? removeIfLeft(name)) == true { removed += 1 }
        for folder in [spool.stateDirectory, rejected] {
            if let folder { removed += removeOldTemporaries(in: folder, now: now) }
        }
        removed += spool.lanes.removeLeft(now: now)
        try? spool.wayNotes.removeEnded(listing)
        return removed
    }

    private func removeIfLeft(_ name: String) throws(FileError) -> Bool {
        // Small files are renamed within moments and not locked; segments in the making are locked.
        guard case .locked(let file) = try spool.directory.openLocked(name), !Spool.isInGrace(try file.status()) else {
            return false
        }
        try spool.directory.remove(name)
        return true
    }

    /// Removes what killed processes had begun to write of small files, a day after: nothing but their age tells.
    private func removeOldTemporaries(in folder: Directory, now: Timestamp) -> Int {
        let names = ((try? folder.hiddenNames()) ?? []).filter { $0.hasSuffix("\(EntryKind.temporarySuffix)") }
        var removed = 0
        for name in names {
            guard let status = (try? folder.status(name)) ?? nil, status.isRegular else { continue }
            if now - status.changed > Self.temporaryAge, (try? folder.remove(name)) != nil { removed += 1 }
        }
        return removed
    }

    static let temporaryAge = Duration.seconds(86_400)

    /// Returns whether a sidecar without a segment is one: a file of that kind of name may be a user's own.
    private func isSidecar(of stem: String) -> Bool {
        if SegmentName(stem) != nil { return true }
        let name = "\(stem)\(EntryKind.sidecarSuffix)"
        return ((try? spool.directory.readState(RetryState.self, from: name) { _ in }) ?? nil) != nil
    }
}

extension Spool {
    /// Finishes and removes what processes that died left.
    public var housekeeping: Housekeeping { Housekeeping(spool: self) }
}

extension Housekeeping {
    /// Deletes a spool of no further use, unless it still holds segments, rejected ones included.
    package func removeIfEmpty() throws(FileError) {
        guard try spool.scan().entries.isEmpty, try spool.rejected.segments().isEmpty else { return }
        do {
            try FileManager.default.removeItem(atPath: spool.path)
        } catch {
            throw FileError("remove", spool.path)
        }
    }
}
