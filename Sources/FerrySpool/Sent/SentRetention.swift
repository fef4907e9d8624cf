extension SentFolder {
    /// Deletes delivered segments, oldest day first: whole days before the age limit, then single segments over the size limit. Links,
    /// and folders that are no day's, are left alone.
    ///
    /// They were delivered and are in the ledger, so this writes no line.
    ///
    /// - Parameters:
    ///   - clock: Looked at when a day is over the age limit: while it cannot be trusted, the day stays. Days before 2020 are of a
    ///     clock that was not set, and stay too.
    ///   - onProgress: Called as it goes.
    package func prune(
        _ limits: RetentionLimits, now: Timestamp, clock: ClockJumpDetector.Reading = .now(),
        onProgress: (WorkProgress) -> Void = { _ in }
    ) -> SentPruning {
        var pruning = SentPruning()
        guard !limits.isUnlimited else { return pruning }
        var days = deliveryDays(&pruning)
        if let maxAge = limits.maxAge, days.contains(where: { $0.isOver(maxAge, at: now) }) {
            // Only now: a look is written down, and a disk with nothing to delete is left alone.
            let trustedNow = spool.clock.trusted(now, by: clock)
            pruning.isClockSettling = trustedNow == nil
            let over = trustedNow.map { now in days.filter { $0.isOver(maxAge, at: now) } } ?? []
            let files = over.map { $0.files(&pruning) }
            let bytes = files.joined().reduce(ByteCount.zero) { $0 + $1.size }
            onProgress(.begins(.deleting, segments: files.reduce(0) { $0 + Int64($1.count) }, bytes: bytes))
            for (day, files) in zip(over, files) {
                for file in files {
                    day.delete(file, &pruning)
                    onProgress(.done(file.size))
                }
                day.removeIfEmpty(spool, &pruning)
            }
            days.removeAll { day in over.contains { $0.name == day.name } }
        }
        guard let maxBytes = limits.maxBytes else { return pruning }
        let kept = days.map { day in (day: day, files: day.files(&pruning)) }
        var total = kept.reduce(ByteCount.zero) { sum, day in day.files.reduce(sum) { $0 + $1.size } }
        if total > maxBytes { onProgress(.begins(.deleting, segments: 0, bytes: total - maxBytes)) }
        for (day, files) in kept where total > maxBytes {
            for file in files where total > maxBytes && day.delete(file, &pruning) {
                total = total - file.size
                onProgress(.done(file.size))
            }
            day.removeIfEmpty(spool, &pruning)
        }
        return pruning
    }

    /// Deletes the oldest delivered segments until the needed bytes are free, and with the last of them `sent/`, which takes an inode.
    ///
    /// - Returns: What was deleted; `nil` when there was nothing that could make room.
    package func free(atLeast wanted: ByteCount) -> LedgerTotals.Count? {
        var pruning = SentPruning()
        for day in deliveryDays(&pruning) {
            for file in day.files(&pruning) {
                if pruning.deleted.bytes >= wanted { return pruning.deleted }
                day.delete(file, &pruning)
            }
            day.removeIfEmpty(spool, &pruning)
        }
        let isFolderRemoved = (try? spool.directory.removeEmptyDirectory(Spool.sentName)) ?? false
        return isFolderRemoved || pruning.deleted.segments > 0 ? pruning.deleted : nil
    }

    func deliveryDays(_ pruning: inout SentPruning) -> [DeliveryDay] {
        var problems: [FileError] = []
        let days = spool.sentDays { problems.append($0) }.compactMap(DeliveryDay.init)
        pruning.problems += problems
        return days
    }
}
