/// Which segments a limit drops: the decision, without touching a file.
package struct EvictionPlan: Equatable, Sendable {
    /// What the plan knows of a pending segment.
    package struct Candidate: Equatable, Sendable {
        /// The segment's priority.
        package var priority: Priority
        /// When it was created, as far as the clocks are known to have been right.
        package var created: Timestamp
        /// The size of its file.
        package var size: ByteCount

        /// Creates a candidate.
        package init(priority: Priority, created: Timestamp, size: ByteCount) {
            self.priority = priority
            self.created = created
            self.size = size
        }
    }

    /// Indexes of candidates over the age limit, in upload order.
    package private(set) var expired: [Int] = []
    /// Indexes of candidates to drop for room, in the order of dropping. A sweep that finds one claimed goes on with the next.
    package private(set) var evicted: [Int] = []
    /// How many of the first of ``evicted`` are larger than the limit by themselves. No other gives way to one of these.
    package private(set) var oversized = 0
    /// What the spool holds when the expired ones are gone.
    package private(set) var remaining: ByteCount

    /// Decides which segments the limits drop.
    ///
    /// - Parameters:
    ///   - candidates: In upload order: by priority, then time.
    ///   - overhead: What counts to the size besides the candidates: sidecars, and what a producer wants to add.
    ///   - now: `nil` when the clock cannot be trusted: nothing expires then.
    ///   - atMost: The most urgent priority that may be evicted: a producer makes room only at the cost of what is not above its own.
    package init(
        candidates: some RandomAccessCollection<Candidate>, limits: RetentionLimits, overhead: ByteCount = .zero,
        now: Timestamp?, atMost: Priority = .critical
    ) {
        remaining = overhead
        var kept: [(index: Int, candidate: Candidate)] = []
        for (index, candidate) in candidates.enumerated() {
            if limits.isTooOld(candidate.created, at: now) {
                expired.append(index)
            } else {
                remaining += candidate.size
                if limits.maxBytes != nil { kept.append((index, candidate)) }
            }
        }
        guard let maxBytes = limits.maxBytes, remaining > maxBytes else { return }
        // Nothing else makes room for what is larger than the limit by itself.
        let evicted = Self.order(kept.filter { $0.candidate.size > maxBytes }, atMost)
        oversized = evicted.count
        self.evicted = evicted + Self.order(kept.filter { $0.candidate.size <= maxBytes }, atMost)
    }

    /// Returns what is dropped when no segment is claimed: how many, and how large they are together.
    func drops(within maxBytes: ByteCount?, size: (Int) -> ByteCount) -> (segments: Int64, bytes: ByteCount) {
        var drops = (segments: Int64(expired.count), bytes: expired.reduce(ByteCount.zero) { $0 + size($1) })
        guard let maxBytes else { return drops }
        var remaining = remaining
        for index in evicted {
            guard remaining > maxBytes else { break }
            drops.segments += 1
            drops.bytes += size(index)
            remaining = remaining - size(index)
        }
        return drops
    }

    /// Returns the indexes with the lowest priority first, in it the oldest: from the back by priority, from the front by time.
    private static func order(_ kept: [(index: Int, candidate: Candidate)], _ atMost: Priority) -> [Int] {
        var order: [Int] = []
        var groupEnd = kept.count
        while groupEnd > 0 {
            let priority = kept[groupEnd - 1].candidate.priority
            if priority < atMost { break }
            let groupStart = kept[..<groupEnd].lastIndex { $0.candidate.priority != priority }.map { $0 + 1 } ?? 0
            order += kept[groupStart..<groupEnd].map(\.index)
            groupEnd = groupStart
        }
        return order
    }
}
