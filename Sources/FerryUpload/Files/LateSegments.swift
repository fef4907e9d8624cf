import FerrySpool

extension Spool {
    /// Drops what missed its deadline, if that is what the user wants.
    func dropLate(_ deadline: DueTime, now: Timestamp) throws(FileError) -> LedgerTotals.Count {
        guard deadline.late == .drop else { return LedgerTotals.Count() }
        let watch = watchClock()
        guard let trusted = watch.trustedNow else { return LedgerTotals.Count() }
        let standing = deadline.standing(at: min(trusted, now))
        return try dropAll(at: now, why: "missed its deadline, \(deadline.time) in \(deadline.zone.name)") { created in
            watch.best(created) < standing.lateBefore && created >= RetentionLimits.earliestCredibleTime
        }
    }
}
