public import FerrySpool

/// Which segments a receiver gathers into larger ones, and for how long.
public struct GatherRules: Equatable, Sendable {
    /// A gathered segment becomes pending at this size.
    public var size: ByteCount
    /// At the latest so long after its first one came.
    public var patience: Duration

    public init(size: ByteCount, patience: Duration = .seconds(10)) {
        self.size = size
        self.patience = patience
    }

    /// One of half the size or more stays by itself, and one that has a wrong clock's time.
    func takes(_ bytes: ByteCount, hasClockReading: Bool) -> Bool { !hasClockReading && bytes < ByteCount(size.bytes / 2) }
}

/// The segments in the making of one spool: one for each priority, stream and way that segments come.
struct GatheredSegments: Sendable {
    private struct Kind: Hashable {
        let priority: Priority
        let stream: String?
        let way: String
    }

    private struct Open {
        let kind: Kind
        let since: ContinuousClock.Instant
    }

    let rules: GatherRules
    private var open: [Open] = []
    /// Of the same places.
    private var gatherings: [Gathering] = []

    init(_ rules: GatherRules) { self.rules = rules }

    /// Takes what came, each under its own key.
    ///
    /// - Returns: Which were taken; the others are known.
    mutating func take(
        _ candidates: [Admission.Candidate], in spool: Spool, following follower: ReceivedLogFollower,
        isKnown: (ReceivedEntry) throws(FileError) -> Bool
    ) throws(FileError) -> [Bool] {
        var items: [(arrival: Arrival, entry: ReceivedEntry, place: Int)] = []
        do throws(FileError) {
            for candidate in candidates {
                items.append((candidate.arrival, candidate.entry, try place(of: candidate, in: spool)))
            }
        } catch {
            for candidate in candidates { spool.discard(candidate.arrival) }
            throw error
        }
        defer { publish(in: spool) { [rules] gathering, _ in gathering.length >= rules.size } }
        return try spool.gather(items, in: &gatherings, following: follower, isKnown: isKnown)
    }

    private mutating func place(of candidate: Admission.Candidate, in spool: Spool) throws(FileError) -> Int {
        let segment = SegmentName(candidate.entry.segment) ?? candidate.identity.name
        let kind = Kind(priority: segment.priority, stream: segment.stream, way: candidate.way.text)
        if let place = open.firstIndex(where: { $0.kind == kind }) { return place }
        gatherings.append(try spool.beginGathering(like: segment, candidate.arrival))
        open.append(Open(kind: kind, since: .now))
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
            guard gathering.isUnsure || isDue(gathering, open[place].since) else { continue }
            if gathering.isUnsure {
                // It stays hidden; the next who opens the spool looks what the log has of it.
            } else if gathering.length > .zero {
                // Where it cannot be named now, its hidden name is in the log: so it is done then as well.
                _ = spool.finish(gathering.arrival, as: gathering.segment.fileName)
            } else {
                spool.discard(gathering.arrival)
            }
            gatherings.remove(at: place)
            open.remove(at: place)
        }
    }
}
