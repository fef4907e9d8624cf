/// What applying the limits did.
public struct RetentionReport: Equatable, Sendable {
    public var expired = LedgerTotals.Count()
    public var evicted = LedgerTotals.Count()
    /// The age limit was not applied, because the clock jumped and has not been steady for an hour.
    public var isClockSettling = false
    /// Bytes over the size limit that could not be freed: everything droppable is claimed or too urgent.
    public var stillOver = ByteCount.zero
    /// What each priority, from 0 to 9, holds afterwards; empty without limits.
    public var stored: [ByteCount] = []

    public init() {}
}

extension Spool {
    /// Drops whole segments until the spool is within its limits. Claimed segments are never dropped.
    ///
    /// - Parameters:
    ///   - room: What the caller wants to add.
    ///   - atMost: The most urgent priority that may be evicted.
    public func applyRetention(
        _ limits: RetentionLimits, room: ByteCount = .zero, atMost: Priority = .critical,
        clock: ClockWatch.Reading = .now(), warn: (UnreadableState) -> Void = { _ in }
    ) throws(FileError) -> RetentionReport {
        var report = RetentionReport()
        guard !limits.isUnlimited else { return report }
        let trustedNow = try limits.maxAge == nil ? nil : watchClock(clock, warn: warn).trustedNow
        report.isClockSettling = limits.maxAge != nil && trustedNow == nil
        let listing = try scan(sizes: true)
        let plan = EvictionPlan(
            candidates: listing.entries.lazy.map {
                .init(priority: $0.priority, created: $0.created, size: $0.size ?? .zero)
            },
            limits: limits, overhead: listing.sidecarBytes + room, now: trustedNow, atMost: atMost)

        report.stored = .init(repeating: .zero, count: Priority.levels)
        for entry in listing.entries { report.stored[Int(entry.priority.level)] += entry.size ?? .zero }
        /// Returns how large the segment was; `nil` when somebody else has it.
        func drop(_ index: Int, _ disposal: Ending.Disposal, _ outcome: LedgerEntry.Outcome, why: String) throws(FileError)
            -> ByteCount?
        {
            let entry = listing.entries[index]
            guard let size = try self.drop(listing.name(of: entry), disposal, outcome, at: clock.wall, why: why) else {
                return nil
            }
            let level = Int(entry.priority.level)
            report.stored[level] = report.stored[level] - size
            return size
        }
        for index in plan.expired {
            report.expired.add(try drop(index, .expired, .expired, why: "older than \(limits.maxAge!.forPeople)"))
        }
        var remaining = plan.remaining
        for index in plan.evicted where remaining > limits.maxBytes! {
            let dropped = try drop(index, .evicted, .evicted, why: "the spool was larger than \(limits.maxBytes!)")
            report.evicted.add(dropped)
            remaining = remaining - (dropped ?? .zero)
        }
        if let maxBytes = limits.maxBytes, remaining > maxBytes { report.stillOver = remaining - maxBytes }
        return report
    }

    /// Drops the pending segments whose time of creation is picked out. Claimed ones stay.
    public func dropAll(at now: Timestamp, why: String, where isDropped: (_ created: Timestamp) -> Bool) throws(FileError)
        -> LedgerTotals.Count
    {
        var dropped = LedgerTotals.Count()
        let listing = try scan()
        for entry in listing.entries where isDropped(entry.created) {
            dropped.add(try drop(listing.name(of: entry), .expired, .expired, at: now, why: why))
        }
        return dropped
    }

    /// Returns how large the segment was; `nil` when somebody else has it.
    private func drop(
        _ name: String, _ disposal: Ending.Disposal, _ outcome: LedgerEntry.Outcome, at time: Timestamp, why: String
    ) throws(FileError) -> ByteCount? {
        guard case .claimed(let claim) = claim(name) else { return nil }
        let events = try? claim.file.walkMembers(length: claim.status.size.bytes).events
        let entry = LedgerEntry(
            at: time, segment: name, outcome: outcome, bytes: claim.status.size, events: events, detail: why)
        try settle([Ending(claim, disposal, entry)])
        return claim.status.size
    }
}

extension LedgerTotals.Count {
    fileprivate mutating func add(_ size: ByteCount?) {
        guard let size else { return }
        segments += 1
        bytes += size
    }

    public mutating func add(_ other: LedgerTotals.Count) {
        segments += other.segments
        bytes += other.bytes
    }
}
