extension Spool {
    /// Deletes delivered segments, oldest day first: whole days before the age limit, then single segments over the size limit.
    ///
    /// They were delivered and are in the ledger, so this writes no line.
    ///
    /// - Returns: What was deleted.
    public func pruneSent(_ limits: RetentionLimits, now: Timestamp) throws(FileError) -> LedgerTotals.Count {
        var pruned = LedgerTotals.Count()
        guard !limits.isUnlimited else { return pruned }
        var kept: [(folder: Directory, name: String, size: ByteCount)] = []
        let oldestDay = limits.maxAge.map { (now - $0).day }
        for folder in try sentDays() {
            let isExpired = oldestDay.map { folder.path.suffix(10) < $0 } ?? false
            for name in try folder.names() {
                guard let status = try folder.status(name), status.isRegular else { continue }
                if isExpired {
                    try folder.remove(name)
                    pruned.segments += 1
                    pruned.bytes += status.size
                } else {
                    kept.append((folder, name, status.size))
                }
            }
            if isExpired { try sentFolder()?.removeEmptyDirectory(String(folder.path.suffix(10))) }
        }
        guard let maxBytes = limits.maxBytes else { return pruned }
        var total = kept.reduce(ByteCount.zero) { $0 + $1.size }
        for file in kept where total > maxBytes {
            try file.folder.remove(file.name)
            total = total - file.size
            pruned.segments += 1
            pruned.bytes += file.size
        }
        return pruned
    }
}
