extension Spool {
    /// Removes the segments in the making whose makers died, however short a time ago: their locks tell. For a disk that is full.
    ///
    /// - Returns: Whether there were any.
    func removeLeftPublications() -> Bool {
        var isAny = false
        for name in (try? directory.hiddenNames()) ?? [] where name.hasSuffix("\(EntryKind.lockedTemporarySuffix)") {
            guard case .locked(let file)? = try? directory.openLocked(name) else { continue }
            // Under its lock: one that a process has just made, and not locked yet, is missed by that process then.
            withExtendedLifetime(file) { if (try? directory.remove(name)) != nil { isAny = true } }
        }
        return isAny
    }

    /// Returns whether a hidden file is so new that its maker may not have come to lock or rename it yet.
    static func isInGrace(_ status: FileStatus) -> Bool {
        abs((Timestamp.now() - status.changed).wholeMilliseconds) <= grace.wholeMilliseconds
    }

    private static let grace = Duration.seconds(60)
}
