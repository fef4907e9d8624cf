/// Drops pending segments that the limits of a spool, or a person, give up.
package struct RetentionSweep: Sendable {
    /// The spool that it belongs to.
    package let spool: Spool

    /// Drops whole segments until the spool is within its limits. Claimed segments are never dropped, nor what is still being written.
    ///
    /// - Parameters:
    ///   - room: What the caller wants to add.
    ///   - atMost: The most urgent priority that may be evicted.
    ///   - inVain: Whether to evict also what makes too little room. A writer that would have to refuse its event drops nothing for it.
    ///   - onProgress: Called as it goes.
    package func apply(
        _ limits: RetentionLimits, room: ByteCount = .zero, atMost: Priority = .critical, inVain: Bool = true,
        clock: ClockJumpDetector.Reading = .now(), onProgress: (WorkProgress) -> Void = { _ in },
        warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetentionReport {
        var report = RetentionReport()
        guard !limits.isUnlimited else { return report }
        let watch = limits.maxAge == nil ? nil : spool.clock.watch(clock, warn: warn)
        let trustedNow = watch?.trustedNow
        report.isClockSettling = limits.maxAge != nil && trustedNow == nil
        let listing = try spool.scan(sizes: true)
        report.problems = listing.problems
        let plan = EvictionPlan(listing, limits, by: watch, room: room, atMost: atMost)

        report.stored = .init(repeating: .zero, count: Priority.levels)
        for entry in listing.entries { report.stored[Int(entry.priority.level)] += entry.size ?? .zero }
        let (segments, bytes) = plan.drops(within: limits.maxBytes) { listing.entries[$0].size ?? .zero }
        if segments > 0 { onProgress(.begins(.dropping, segments: segments, bytes: bytes)) }
        var drops = DropGroup(spool, at: clock.wall)
        for index in plan.expired {
            let name = listing.name(of: listing.entries[index])
            let size = try drops.add(
                name, .expired, .expired, why: limits.whyExpired,
                unlessDated: { !limits.isTooOld($0, at: trustedNow) })
            report.expired.add(size)
            report.dropped(size, listing.entries[index].priority)
            onProgress(.done(listing.entries[index].size ?? .zero))
        }
        var remaining = plan.remaining
        // What is too large by itself, and is still being written or sent.
        var held = ByteCount.zero
        let makesRoom = inVain || canMakeRoom(plan, limits, listing, drops)
        for (position, index) in plan.evicted.enumerated() where makesRoom {
            guard let maxBytes = limits.maxBytes, remaining > maxBytes else { break }
            let entry = listing.entries[index]
            let size = try drops.add(
                listing.name(of: entry), .evicted, .evicted, why: limits.whyEvicted)
            report.evicted.add(size)
            report.dropped(size, entry.priority)
            onProgress(.done(entry.size ?? .zero))
            if size == nil, position < plan.oversized { held += entry.size ?? .zero }
            remaining = remaining - (size ?? (position < plan.oversized ? entry.size : nil) ?? .zero)
        }
        try drops.settle()
        report.problems += drops.problems
        if let maxBytes = limits.maxBytes, remaining + held > maxBytes { report.stillOver = remaining + held - maxBytes }
        return report
    }

    /// Returns whether enough of what a plan evicts may be dropped: what is being sent or written stays.
    private func canMakeRoom(
        _ plan: EvictionPlan, _ limits: RetentionLimits, _ listing: SpoolListing, _ drops: DropGroup
    ) -> Bool {
        var remaining = plan.remaining
        for index in plan.evicted {
            guard let maxBytes = limits.maxBytes, remaining > maxBytes else { return true }
            let entry = listing.entries[index]
            if drops.couldDrop(listing.name(of: entry)) { remaining = remaining - (entry.size ?? .zero) }
        }
        return limits.maxBytes.map { remaining <= $0 } ?? true
    }

    /// Drops what was stored in a spool until a program disabled it, and asked for that.
    ///
    /// - Parameter names: Of these segments alone; `nil`: of all.
    package func dropDisabled(
        _ names: Set<String>? = nil, before: Timestamp, at now: Timestamp
    ) throws(FileError) -> LedgerTotals.Count {
        try dropAll(at: now, why: "the tracker was disabled and told to delete what is stored", among: names) { $0 <= before }
    }

    /// Drops the pending segments whose time of creation is picked out. Claimed ones stay, and those that are still being written.
    package func dropAll(
        at now: Timestamp, why: String, among names: Set<String>? = nil, where isDropped: (_ created: Timestamp) -> Bool
    ) throws(FileError) -> LedgerTotals.Count {
        var dropped = LedgerTotals.Count()
        let listing = try spool.scan()
        var drops = DropGroup(spool, at: now)
        for entry in listing.entries where isDropped(entry.created) && names?.contains(listing.name(of: entry)) ?? true {
            let size = try drops.add(
                listing.name(of: entry), .expired, .expired, why: why, unlessDated: { !isDropped($0) })
            dropped.add(size)
        }
        try drops.settle()
        return dropped
    }
}

extension Spool {
    /// Drops pending segments that the limits, or a person, give up.
    package var retention: RetentionSweep { RetentionSweep(spool: self) }
}
