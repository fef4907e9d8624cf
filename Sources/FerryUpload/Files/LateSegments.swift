import FerrySpool

/// Which segments are deleted because they missed their deadline: the decision, without touching a file.
private struct LateDrop {
    private let watch: ClockJumpDetector
    private let lateBefore: Timestamp

    /// `nil` when none is: the clock cannot be trusted.
    init?(_ deadline: DueTime, by watch: ClockJumpDetector, at now: Timestamp) {
        guard let trusted = watch.trustedNow else { return nil }
        self.watch = watch
        lateBefore = deadline.standing(at: min(trusted, now)).lateBefore
    }

    func drops(_ created: Timestamp) -> Bool {
        watch.best(created) < lateBefore && created >= RetentionLimits.earliestCredibleTime
    }
}

extension RetentionSweep {
    /// Drops what missed its deadline, if that is what the user wants.
    func dropLate(_ deadline: DueTime, now: Timestamp) throws(FileError) -> LedgerTotals.Count {
        guard deadline.late == .drop, let drop = LateDrop(deadline, by: spool.clock.watch(), at: now) else {
            return LedgerTotals.Count()
        }
        return try dropAll(at: now, why: deadline.whyDropped, where: drop.drops)
    }

    /// Returns what ``dropLate(_:now:)`` would drop, as indexes of a listing's entries. Nothing changes.
    func forecastLate(
        _ deadline: DueTime, of listing: SpoolListing, now: Timestamp, clock: ClockJumpDetector.Reading
    ) -> [Int] {
        guard deadline.late == .drop, let drop = LateDrop(deadline, by: spool.clock.asSeen(clock), at: now) else { return [] }
        return forecastDrop(of: listing, now: now, where: drop.drops)
    }
}

extension DueTime {
    /// What the ledger says of what is dropped.
    var whyDropped: String { "missed its deadline, \(time) in \(zone.name)" }
}
