import FerrySpool

/// The segments in the making of one spool: one for each priority, stream, hour and way that segments come.
struct GatheredSegments: Sendable {
    private struct Kind: Hashable {
        let priority: Priority
        let stream: String?
        /// Since 1970: limits of age and order go by the time in a name, which is the first one's.
        let hour: Int64
        let way: String

        init(_ candidate: AdmissionCandidate) {
            let segment = SegmentName(candidate.entry.segment) ?? candidate.identity.name
            (priority, stream, way) = (segment.priority, segment.stream, candidate.way.text)
            hour = Int64((Double(segment.created.milliseconds) / 3_600_000).rounded(.down))
        }
    }

    private struct Open {
        let kind: Kind
        let since: ContinuousClock.Instant
        /// What its parts inflate to, with those that were known.
        var inflated = ByteCount.zero
        /// With what is about to be appended.
        var length = ByteCount.zero
        /// Nothing is added any more: it only has no name yet.
        var isOver = false
    }

    /// Each holds a descriptor. Where those are scarce, one is left of them.
    private static let mostOpen = 64

    let rules: GatherRules
    private var open: [Open] = []
    /// Of the same places.
    private var gatherings: [Gathering] = []

    init(_ rules: GatherRules) { self.rules = rules }

    /// What is in them.
    var bytes: ByteCount { gatherings.reduce(.zero) { $0 + $1.length } }

    /// Takes what came, each under its own key.
    ///
    /// - Returns: Which were taken; the others are known.
    mutating func take(
        _ candidates: [AdmissionCandidate], in spool: Spool, following follower: ReceivedLogFollower,
        isKnown: (ReceivedEntry) throws(FileError) -> Bool
    ) throws(FileError) -> [Bool] {
        for place in open.indices { open[place].length = gatherings[place].length }
        var items: [(arrival: Arrival, entry: ReceivedEntry, place: Int)] = []
        do throws(FileError) {
            for candidate in candidates {
                items.append((candidate.arrival, candidate.entry, try place(of: candidate, in: spool)))
            }
        } catch {
            for candidate in candidates { spool.arrivals.discard(candidate.arrival) }
            throw error
        }
        defer {
            // The oldest first, beyond the number.
            let isScarce = gatherings.last.map { DescriptorNumbers.areScarce(beside: $0.arrival.file) } ?? false
            let surplus = max(0, open.count - (isScarce ? 1 : Self.mostOpen))
            let last = surplus > 0 ? open.map(\.since).sorted()[surplus - 1] : nil
            publish(in: spool) { [rules] gathering, since in
                gathering.length >= rules.size || last.map { since <= $0 } ?? false
            }
        }
        return try spool.arrivals.gather(items, in: &gatherings, following: follower, isKnown: isKnown)
    }

    private mutating func place(of candidate: AdmissionCandidate, in spool: Spool) throws(FileError) -> Int {
        let kind = Kind(candidate)
        let (length, inflated) = (ByteCount(candidate.entry.bytes), candidate.body.inflated)
        if let place = open.firstIndex(where: { $0.kind == kind && !$0.isOver }) {
            open[place].length += length
            open[place].inflated += inflated
            if open[place].length <= rules.size, open[place].inflated <= rules.mostInflated { return place }
            // It is full without this one.
            open[place].isOver = true
        }
        let segment = SegmentName(candidate.entry.segment) ?? candidate.identity.name
        gatherings.append(try spool.arrivals.beginGathering(like: segment, candidate.arrival))
        open.append(Open(kind: kind, since: .now, inflated: inflated, length: length))
        return open.count - 1
    }

    /// Makes those pending whose time is over.
    mutating func publishDue(in spool: Spool, at now: ContinuousClock.Instant) {
        publish(in: spool) { [rules] _, since in now - since >= rules.patience }
    }

    /// Makes all of them pending.
    mutating func publishAll(in spool: Spool) { publish(in: spool) { _, _ in true } }

    private mutating func publish(in spool: Spool, where isDue: (Gathering, ContinuousClock.Instant) -> Bool) {
        for place in gatherings.indices.reversed() {
            let gathering = gatherings[place]
            guard gathering.isUnsure || open[place].isOver || isDue(gathering, open[place].since) else { continue }
            if gathering.isUnsure {
                // It stays hidden; the next process that opens the spool looks what the log has of it.
            } else if gathering.length == .zero {
                spool.arrivals.discard(gathering.arrival)
            } else if spool.arrivals.finish(gathering.arrival, as: gathering.segment.fileName) != .stored {
                // A folder that takes no names for now: at the next look, or by the next process that opens the spool.
                open[place].isOver = true
                continue
            }
            gatherings.remove(at: place)
            open.remove(at: place)
        }
    }
}
