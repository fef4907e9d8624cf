import Crypto
public import FerrySpool

/// What is known of a key that came before.
public enum KnownKey: Equatable, Sendable {
    /// It came, with a body of this digest.
    case came(BodyDigest)
    /// It is the key of a half of a segment that came whole, or of a segment that came in halves: its events are there.
    case cameInParent
    /// It is the key of a segment of which a half came: some of its events are there, and some are not.
    case cameInPart

    /// Whether a body under this key holds what came before. The bytes themselves were never seen of what came in other parts.
    public func agrees(with digest: BodyDigest?) -> Bool {
        switch self {
        case .came(let known): known == digest
        case .cameInParent: true
        case .cameInPart: false
        }
    }
}

/// What is known of a segment, and by what.
public struct KnownSegment: Equatable, Sendable {
    public let key: KnownKey
    public let arrivals: [KnownArrival]

    public init(key: KnownKey, arrivals: [KnownArrival]) {
        self.key = key
        self.arrivals = arrivals
    }

    /// What is logged before a sender is told that a segment is here which was but noted; `nil` where nothing need be. It is a promise for what the
    /// sender asked about, and no more: for a half, where the whole lies here.
    ///
    /// - Parameter asked: What the sender asked about; without events where it does not say how many.
    public func answer(to asked: ReceivedEntry) -> ReceivedEntry? {
        guard let arrival = arrivals.first(where: { $0.noted != nil }), let noted = arrival.noted else { return nil }
        var answer = asked
        if answer.events == 0 {
            let own = SegmentName(asked.segment)?.id ?? asked.key
            let id = arrival.id?.text ?? own
            // By their number the halves of a segment are known.
            if own.hasPrefix(id) { answer.events = KeyIndex.share(of: noted.events, splits: own.dropFirst(id.count)) }
        }
        (answer.file, answer.bundle, answer.trail, answer.answered) = (nil, nil, arrival.way?.text, true)
        return answer
    }
}

/// A segment that came before: the one that is asked for, the whole of it, or one of its halves.
public struct KnownArrival: Equatable, Sendable {
    /// `nil`: that of the segment that is asked for.
    public let id: SegmentID?
    /// The way that it came, with the spool that sent it; `nil` where that was not noted.
    public let way: Trail?
    /// What was in it, where it came another way than over a receiver or in a bundle, by rsync say, and no sender was told yet that it is here.
    public let noted: CopiedContent?
    /// The name that it was noted under, where the index has it.
    public let segment: SegmentName?

    public init(id: SegmentID?, way: Trail?, noted: CopiedContent? = nil, segment: SegmentName? = nil) {
        self.id = id
        self.way = way
        self.noted = noted
        self.segment = segment
    }
}

/// The keys that were accepted, the digests of their bodies, how many events they held and which way they came: 80 bytes each, so that
/// millions fit.
public struct KeyIndex: Sendable {
    /// The first half of a key's SHA-256, which is also the number of the ID that is made from a key (``ReceivedID``).
    private struct KeyHash: Hashable, Sendable {
        let number: UInt128

        init(_ number: UInt128) { self.number = number }
        init(_ key: String) { number = BodyDigest(SHA256.hash(data: Array(key.utf8))).firstHalf }
    }

    private struct Arrival: Sendable {
        let digest: BodyDigest
        let events: Int64
        let bytes: Int64
        /// What of the segment's name its halves have too, whatever priority they have got since; 0 for another tool's name.
        let kin: Int
        let way: UInt32
        /// The number of its name, from 1; 0 where it is more than a note.
        let note: UInt32
    }

    private var arrivals: [KeyHash: Arrival] = [:]
    /// What came in halves, or may have: the segments that an arrival may be a half of.
    private var wholes: Set<KeyHash> = []
    /// The ways that segments came. There are few of them.
    private var ways: [Way] = []
    /// The names of what is but noted, by number. There are few.
    private var noteNames: [UInt32: SegmentName] = [:]
    private var lastNote: UInt32 = 0
    /// Whether mere notes count for nothing.
    private var ignoresNotes = false
    private var wayNumbers: [WayKey: UInt32] = [:]

    private struct Way: Sendable {
        let trail: Trail?
        let isMereNote: Bool
    }

    private struct WayKey: Hashable, Sendable {
        let trail: String?
        let isMereNote: Bool
    }

    /// How often halves were split themselves, at most, when a whole is looked for in them, and its pieces: 16 million of them.
    private static let deepest = 24

    public init() {}

    public mutating func add(_ entry: ReceivedEntry) {
        guard let digest = BodyDigest(hexadecimal: entry.sha256) else { return }
        let hash = KeyHash(entry.key)
        if let before = arrivals[hash] {
            // A note takes no promise back, wherever a clock that was set or midnight puts it in the logs.
            if entry.isMereNote, !ways[Int(before.way)].isMereNote, before.digest == digest { return }
            noteNames[before.note] = nil
        }
        arrivals[hash] = Arrival(
            digest: digest, events: entry.events, bytes: entry.bytes, kin: Self.kin(of: SegmentName(entry.segment)) ?? 0,
            way: number(of: entry), note: noteNumber(of: entry))
        for whole in SegmentID.ancestors(of: entry.key).prefix(Self.deepest) { wholes.insert(KeyHash(whole.text)) }
    }

    /// The same without what is but noted, and may be gone.
    public var withoutNotes: KeyIndex {
        var index = self
        index.ignoresNotes = true
        return index
    }

    private subscript(_ hash: KeyHash) -> Arrival? {
        guard let arrival = arrivals[hash] else { return nil }
        return ignoresNotes && ways[Int(arrival.way)].isMereNote ? nil : arrival
    }

    private mutating func number(of entry: ReceivedEntry) -> UInt32 {
        let key = WayKey(trail: entry.trail, isMereNote: entry.isMereNote)
        if let known = wayNumbers[key] { return known }
        let number = UInt32(clamping: ways.count)
        ways.append(Way(trail: entry.trail.flatMap { Trail($0) }, isMereNote: entry.isMereNote))
        wayNumbers[key] = number
        return number
    }

    private mutating func noteNumber(of entry: ReceivedEntry) -> UInt32 {
        guard entry.isMereNote, let name = SegmentName(entry.segment) else { return 0 }
        lastNote &+= 1
        noteNames[lastNote] = name
        return lastNote
    }

    private func knownArrival(_ id: SegmentID?, _ arrival: Arrival) -> KnownArrival {
        let way = ways[Int(arrival.way)]
        let noted = CopiedContent(digest: arrival.digest, bytes: arrival.bytes, events: arrival.events)
        return KnownArrival(
            id: id, way: way.trail, noted: way.isMereNote ? noted : nil, segment: noteNames[arrival.note])
    }

    /// What is known of a key by itself; `nil` when it never came.
    public func known(_ key: String, segment: SegmentName?) -> KnownSegment? {
        guard let arrival = arrival(of: key, segment) else { return nil }
        return KnownSegment(key: .came(arrival.digest), arrivals: [knownArrival(nil, arrival)])
    }

    /// What is known of a segment: by its key, as a half of one that came whole, or as one that came in halves; `nil` when it is new.
    ///
    /// Halves have the time and the stream of their whole, its ID with what is appended to it, and half of its events. Keys that only look alike, as those that
    /// end in a counter, are other segments'.
    ///
    /// - Parameters:
    ///   - segment: The segment's name, as its sender gave it; `nil` where that gave none, or another tool's.
    ///   - events: How many it holds.
    public func known(_ key: String, segment: SegmentName?, events: Int64) -> KnownSegment? {
        if let known = known(key, segment: segment) { return known }
        // An ID made from a key is that key's alone, whatever time the name says.
        guard let id = SegmentID(key) else { return knownInHalves(ReceivedID(key).id, nil, events) }
        guard let kin = Self.kin(of: segment) else { return nil }
        for whole in SegmentID.ancestors(of: key).prefix(Self.deepest) {
            guard let arrival = arrival(of: whole, kin) ?? arrivalUnderMadeKey(whole), arrival.events > 1,
                Self.share(of: arrival.events, splits: key.dropFirst(whole.text.count)) == events
            else { continue }
            return KnownSegment(key: .cameInParent, arrivals: [knownArrival(whole, arrival)])
        }
        return knownInHalves(id, kin, events) ?? segment.flatMap { knownSalvaged(id, $0) }
    }

    /// What is known of a segment of which, or of whose whole or half, another version came: what was salvaged of it, or what a salvage was made of.
    /// It has some of its events.
    private func knownSalvaged(_ id: SegmentID, _ segment: SegmentName) -> KnownSegment? {
        let kins = [segment.salvaged, segment.beforeSalvage].map { Self.kin(of: $0) }
        func known(_ other: SegmentID) -> KnownSegment? {
            guard let arrival = self[KeyHash(other.text)], arrival.kin != 0, kins.contains(arrival.kin) else { return nil }
            return KnownSegment(key: .came(arrival.digest), arrivals: [knownArrival(other, arrival)])
        }
        func knownPart(of whole: SegmentID, _ depth: Int) -> KnownSegment? {
            guard depth > 0, wholes.contains(KeyHash(whole.text)), let halves = whole.halves else { return nil }
            for half in [halves.first, halves.second] {
                if let known = known(half) ?? knownPart(of: half, depth - 1) { return known }
            }
            return nil
        }
        for whole in SegmentID.ancestors(of: id.text).prefix(Self.deepest) {
            if let known = known(whole) { return known }
        }
        return knownPart(of: id, Self.deepest)
    }

    private func arrival(of key: String, _ segment: SegmentName?) -> Arrival? {
        if let arrival = self[KeyHash(key)] { return arrival }
        // A relay sends what came under another tool's key under the ID that it made from it.
        if let id = SegmentID(key), let arrival = arrivalUnderMadeKey(id) { return arrival }
        return segment?.id == key ? nil : self[KeyHash(ReceivedID(key).text)]
    }

    /// What came under the key that an ID is made from.
    private func arrivalUnderMadeKey(_ id: SegmentID) -> Arrival? { id.number.flatMap { self[KeyHash($0)] } }

    /// - Parameter kin: `nil`: any.
    private func arrival(of id: SegmentID, _ kin: Int?) -> Arrival? {
        guard let arrival = self[KeyHash(id.text)], kin == nil || arrival.kin == kin else { return nil }
        return arrival
    }

    private func knownInHalves(_ id: SegmentID, _ kin: Int?, _ events: Int64) -> KnownSegment? {
        var found: [KnownArrival] = []
        let isWhole = areHere(id, kin, events, Self.deepest, &found)
        if found.isEmpty { return nil }
        return KnownSegment(key: isWhole ? .cameInParent : .cameInPart, arrivals: found)
    }

    /// Whether both halves of a segment came, or halves of theirs.
    private func areHere(_ id: SegmentID, _ kin: Int?, _ events: Int64, _ depth: Int, _ found: inout [KnownArrival]) -> Bool {
        guard depth > 0, events > 1, wholes.contains(KeyHash(id.text)), let halves = id.halves else { return false }
        var areHere = true
        for half in [halves.first, halves.second] {
            let events = Self.share(of: events, splits: half.text.suffix(1))
            if let arrival = arrival(of: half, kin), arrival.events == events {
                found.append(knownArrival(half, arrival))
            } else if !self.areHere(half, kin, events, depth - 1, &found) {
                areHere = false
            }
        }
        return areHere
    }

    /// How many events splits leave of all: `0` for a first half, which gets the odd one, and `1` for a second.
    package static func share(of all: Int64, splits: Substring) -> Int64 {
        splits.reduce(all) { $1 == "0" ? $0 - $0 / 2 : $0 / 2 }
    }

    private static func kin(of segment: SegmentName?) -> Int? {
        guard let segment else { return nil }
        var hasher = Hasher()
        hasher.combine(segment.created)
        hasher.combine(segment.stream)
        let kin = hasher.finalize()
        return kin == 0 ? 1 : kin
    }
}
