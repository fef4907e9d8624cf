/// Which pending segments limits would delete now, and why, in the words that the ledger would have: nothing is claimed, and nothing changes.
extension RetentionSweep {
    /// Returns what ``apply(_:room:atMost:inVain:clock:onProgress:warn:)`` would delete at this moment.
    ///
    /// - Parameters:
    ///   - listing: Made with sizes.
    ///   - clock: The clocks as they are now.
    /// - Returns: The reasons, by the indexes of the listing's entries.
    package func forecast(
        _ limits: RetentionLimits, of listing: SpoolListing, clock: ClockJumpDetector.Reading = .now()
    ) -> [Int: String] {
        guard !limits.isUnlimited else { return [:] }
        let watch = limits.maxAge == nil ? nil : spool.clock.asSeen(clock)
        let plan = EvictionPlan(listing, limits, by: watch)
        var reasons: [Int: String] = [:]
        for index in plan.expired {
            let isDropped = couldDrop(listing.name(of: listing.entries[index]), now: clock.wall) {
                !limits.isTooOld($0, at: watch?.trustedNow)
            }
            if isDropped { reasons[index] = limits.whyExpired }
        }
        var remaining = plan.remaining
        for (position, index) in plan.evicted.enumerated() {
            guard let maxBytes = limits.maxBytes, remaining > maxBytes else { break }
            let entry = listing.entries[index]
            let isDropped = couldDrop(listing.name(of: entry), now: clock.wall)
            if isDropped { reasons[index] = limits.whyEvicted }
            // As in the sweep, nothing else gives way to what is too large by itself.
            if isDropped || position < plan.oversized { remaining = remaining - (entry.size ?? .zero) }
        }
        return reasons
    }

    /// Returns what ``dropAll(at:why:among:where:)`` would delete at this moment.
    ///
    /// - Returns: The indexes of the listing's entries.
    package func forecastDrop(
        of listing: SpoolListing, now: Timestamp, where isDropped: (_ created: Timestamp) -> Bool
    ) -> [Int] {
        listing.entries.indices.filter { index in
            let entry = listing.entries[index]
            return isDropped(entry.created)
                && couldDrop(listing.name(of: entry), now: now, unlessDated: { !isDropped($0) })
        }
    }

    /// Returns whether a segment could be deleted, as far as that can be seen without claiming it: no program is still writing it.
    ///
    /// - Parameter stays: Asked with the time that the file says it was opened at, where the clock was behind that gave it its name.
    private func couldDrop(
        _ name: String, now: Timestamp, unlessDated stays: (Timestamp) -> Bool = { _ in false }
    ) -> Bool {
        do throws(FileError) {
            guard let file = try spool.directory.open(name) else { return false }
            if let dated = file.dated, stays(dated) { return false }
            return try spool.settles(name, file.status(), now: now) == nil
        } catch {
            return false
        }
    }
}

extension EvictionPlan {
    /// Decides for the segments of a listing that was made with sizes.
    ///
    /// - Parameters:
    ///   - watch: What is known of the clock; `nil`: nothing goes by age.
    ///   - room: What a producer wants to add.
    init(
        _ listing: SpoolListing, _ limits: RetentionLimits, by watch: ClockJumpDetector?, room: ByteCount = .zero,
        atMost: Priority = .critical
    ) {
        self.init(
            candidates: listing.entries.lazy.map {
                .init(priority: $0.priority, created: watch?.best($0.created) ?? $0.created, size: $0.size ?? .zero)
            },
            limits: limits, overhead: listing.sidecarBytes + room, now: watch?.trustedNow, atMost: atMost)
    }
}

extension RetentionLimits {
    /// What the ledger says of what the age limit deletes.
    var whyExpired: String { "older than \(maxAge?.forPeople ?? "the limit")" }
    /// What it says of what the size limit deletes.
    var whyEvicted: String { "the spool was larger than \(maxBytes?.description ?? "the limit")" }
}
