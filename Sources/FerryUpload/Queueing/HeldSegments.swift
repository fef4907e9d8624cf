import FerrySpool

/// The segments of one spool that wait until it is their time to leave. Times are since any fixed moment, by a clock that only goes forward.
struct HeldSegments {
    private struct Held {
        let newcomer: SpoolQueue.Newcomer
        let events: Int64
        let due: Duration
        let isUrgent: Bool
    }

    /// Which of the held segments.
    enum Share {
        /// Those that wait for a time of their own, as critical ones do.
        case urgent
        /// The others.
        case ordinary
        case all
    }

    private var held: [FileName: Held] = [:]
    /// How much some of the held segments hold.
    struct Amount {
        /// As far as their notes tell.
        var events: Int64 = 0
        var bytes = ByteCount.zero
    }

    private(set) var urgent = Amount()
    private(set) var ordinary = Amount()
    /// When the first of the urgent ones is due, or was before it was released or went.
    private(set) var urgentDue: Duration?
    /// When the first of the others is.
    private(set) var ordinaryDue: Duration?

    var isEmpty: Bool { held.isEmpty }
    var entries: some Collection<SpoolListing.Entry> { held.values.lazy.map(\.newcomer.entry) }
    var names: some Sequence<String> { held.values.lazy.map(\.newcomer.name) }
    func contains(_ name: FileName) -> Bool { held[name] != nil }

    mutating func add(_ newcomer: SpoolQueue.Newcomer, events: Int64, until due: Duration, isUrgent: Bool) {
        guard !contains(FileName(newcomer.name)) else { return }
        add(Held(newcomer: newcomer, events: events, due: due, isUrgent: isUrgent))
    }

    private mutating func add(_ one: Held) {
        held[FileName(one.newcomer.name)] = one
        let bytes = one.newcomer.entry.size ?? .zero
        if one.isUrgent {
            urgentDue = min(urgentDue ?? one.due, one.due)
            urgent.events.add(one.events)
            urgent.bytes += bytes
        } else {
            ordinaryDue = min(ordinaryDue ?? one.due, one.due)
            ordinary.events.add(one.events)
            ordinary.bytes += bytes
        }
    }

    /// Takes over a segment that others hold, if they have it.
    mutating func take(_ name: FileName, from others: HeldSegments) { if let one = others.held[name] { add(one) } }

    /// Forgets segments that are gone: what other processes have sent counts no more.
    mutating func keep(where isThere: (String) -> Bool) {
        guard !held.values.allSatisfy({ isThere($0.newcomer.name) }) else { return }
        var left = HeldSegments()
        for one in held.values where isThere(one.newcomer.name) { left.add(one) }
        self = left
    }

    /// Removes a share of the held segments, and returns them.
    mutating func release(_ share: Share) -> [SpoolQueue.Newcomer] {
        release { one in
            switch (share, one.isUrgent) {
            case (.all, _), (.urgent, true), (.ordinary, false): true
            case (.urgent, false), (.ordinary, true): false
            }
        }
    }

    /// Removes the held segments of some names, and returns them.
    mutating func release(_ names: Set<String>) -> [SpoolQueue.Newcomer] {
        names.isEmpty ? [] : release { names.contains($0.newcomer.name) }
    }

    private mutating func release(where isFree: (Held) -> Bool) -> [SpoolQueue.Newcomer] {
        var released: [SpoolQueue.Newcomer] = []
        var left = HeldSegments()
        for one in held.values { if isFree(one) { released.append(one.newcomer) } else { left.add(one) } }
        self = left
        return released
    }

    /// Returns the names of held segments of a segment's priority and stream.
    func kin(of segment: SegmentName) -> some Sequence<String> {
        held.values.lazy.map(\.newcomer.name).filter { name in
            SegmentName(name).map { ($0.priority, $0.stream) == (segment.priority, segment.stream) } ?? false
        }
    }
}
