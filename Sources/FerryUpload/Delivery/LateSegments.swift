import FerrySpool

extension Spool {
    /// Drops what missed its deadline, if that is what the user wants.
    func dropLate(_ deadline: DeliveryDeadline, now: Timestamp) throws(FileError) -> LedgerTotals.Count {
        guard deadline.late == .drop, let trusted = trusted(now) else { return LedgerTotals.Count() }
        let standing = deadline.standing(at: trusted)
        return try dropAll(at: now, why: "missed its deadline, \(deadline.time) in \(deadline.zone.name)") { created in
            created < standing.lateBefore && created >= RetentionLimits.earliestCredibleTime
        }
    }
}
