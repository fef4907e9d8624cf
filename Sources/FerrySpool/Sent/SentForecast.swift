extension SentFolder {
    /// Returns what ``prune(_:now:clock:onProgress:)`` would delete at this moment; nothing changes.
    package func forecast(_ limits: RetentionLimits, clock: ClockJumpDetector.Reading = .now()) -> SentPruning {
        var pruning = SentPruning()
        guard !limits.isUnlimited else { return pruning }
        var days = deliveryDays(&pruning)
        var gone: [(name: String, size: ByteCount)] = []
        if let maxAge = limits.maxAge, days.contains(where: { $0.isOver(maxAge, at: clock.wall) }) {
            let trustedNow = spool.clock.asSeen(clock).trustedNow
            pruning.isClockSettling = trustedNow == nil
            if let now = trustedNow {
                for day in days where day.isOver(maxAge, at: now) { gone += day.files(&pruning) }
                days.removeAll { $0.isOver(maxAge, at: now) }
            }
        }
        if let maxBytes = limits.maxBytes {
            let files = days.flatMap { $0.files(&pruning) }
            var total = files.reduce(ByteCount.zero) { $0 + $1.size }
            for file in files where total > maxBytes {
                gone.append(file)
                total = total - file.size
            }
        }
        for file in gone {
            pruning.deleted.segments += 1
            pruning.deleted.bytes += file.size
        }
        return pruning
    }
}
