import FerrySpool

/// What is known of what came under a key.
struct KeyArrival: Sendable {
    let digest: BodyDigest
    let events: Int64
    let bytes: Int64
    /// What of the segment's name its halves have too, at any priority that they have got since; 0 for another tool's name.
    let kin: Int
    let trail: Trail?
    let isMereNote: Bool
    /// Whether other bytes were noted under the key between any earlier line and this one.
    let comesAfterOthers: Bool
    /// The name of what is but noted.
    let name: SegmentName?

    /// Reads a line of the log; `nil` for one that names no digest.
    init?(_ entry: ReceivedEntry) {
        guard let digest = BodyDigest(hexadecimal: entry.sha256) else { return nil }
        let segment = SegmentName(entry.segment)
        self.init(
            digest: digest, events: entry.events, bytes: entry.bytes, kin: Self.kin(of: segment) ?? 0,
            trail: entry.trail.flatMap { Trail($0) }, isMereNote: entry.isMereNote, comesAfterOthers: false,
            name: entry.isMereNote ? segment : nil)
    }

    init(
        digest: BodyDigest, events: Int64, bytes: Int64, kin: Int, trail: Trail?, isMereNote: Bool, comesAfterOthers: Bool,
        name: SegmentName?
    ) {
        self.digest = digest
        self.events = events
        self.bytes = bytes
        self.kin = kin
        self.trail = trail
        self.isMereNote = isMereNote
        self.comesAfterOthers = comesAfterOthers
        self.name = name
    }

    /// Returns whether it still holds once a later line was read. A note takes no promise back, wherever a clock that was set or midnight puts it in
    /// the logs.
    func outweighs(_ later: KeyArrival) -> Bool {
        later.isMereNote && !later.comesAfterOthers && !isMereNote && later.digest == digest
    }

    /// Returns what is known of it.
    ///
    /// - Parameter id: `nil`: that of the segment that is asked for.
    func known(as id: SegmentID?) -> KnownArrival {
        KnownArrival(
            id: id, way: trail, noted: isMereNote ? CopiedContent(digest: digest, bytes: bytes, events: events) : nil,
            segment: name)
    }

    /// Hashes the time and the stream of a name; `nil` where there is no name.
    static func kin(of segment: SegmentName?) -> Int? {
        guard let segment else { return nil }
        var hasher = Hasher()
        hasher.combine(segment.created)
        hasher.combine(segment.stream)
        let kin = hasher.finalize()
        return kin == 0 ? 1 : kin
    }
}

/// Keys that came lately, and what came under them: 80 bytes each.
struct KeyMemory: Sendable {
    /// A ``KeyArrival`` whose way and name, of which there are few, are numbers.
    private struct Row: Sendable {
        let digest: BodyDigest
        let events: Int64
        let bytes: Int64
        let kin: Int
        let way: UInt32
        /// The number of its name, from 1; 0 where it is more than a note.
        let note: UInt32
        let comesAfterOthers: Bool
    }

    private struct Way: Hashable, Sendable {
        let text: String?
        let isMereNote: Bool
    }

    private var rows: [KeyHash: Row] = [:]
    /// What came in halves, or may have: the segments that an arrival may be a half of.
    private var wholes: Set<KeyHash> = []
    private var ways: [(trail: Trail?, isMereNote: Bool)] = []
    private var wayNumbers: [Way: UInt32] = [:]
    private var noteNames: [UInt32: SegmentName] = [:]
    private var lastNote: UInt32 = 0

    var count: Int { rows.count }

    subscript(_ hash: KeyHash) -> KeyArrival? {
        guard let row = rows[hash] else { return nil }
        let way = ways[Int(row.way)]
        return KeyArrival(
            digest: row.digest, events: row.events, bytes: row.bytes, kin: row.kin, trail: way.trail, isMereNote: way.isMereNote,
            comesAfterOthers: row.comesAfterOthers, name: noteNames[row.note])
    }

    /// Returns whether something came that may be a half of the segment with this hash.
    func hasHalf(of hash: KeyHash) -> Bool { wholes.contains(hash) }

    mutating func add(_ entry: ReceivedEntry) {
        guard let arrival = KeyArrival(entry) else { return }
        let hash = KeyHash(entry.key)
        let before = self[hash]
        if let before, before.outweighs(arrival) { return }
        if let row = rows[hash] { noteNames[row.note] = nil }
        rows[hash] = Row(
            digest: arrival.digest, events: arrival.events, bytes: arrival.bytes, kin: arrival.kin, way: number(of: entry),
            note: noteNumber(of: arrival),
            comesAfterOthers: before.map { $0.digest != arrival.digest || $0.comesAfterOthers } ?? false)
        for whole in SegmentID.ancestors(of: entry.key).prefix(KeyIndex.deepest) { wholes.insert(KeyHash(whole.text)) }
    }

    private mutating func number(of entry: ReceivedEntry) -> UInt32 {
        let way = Way(text: entry.trail, isMereNote: entry.isMereNote)
        if let known = wayNumbers[way] { return known }
        let number = UInt32(clamping: ways.count)
        ways.append((entry.trail.flatMap { Trail($0) }, entry.isMereNote))
        wayNumbers[way] = number
        return number
    }

    private mutating func noteNumber(of arrival: KeyArrival) -> UInt32 {
        guard let name = arrival.name else { return 0 }
        lastNote &+= 1
        noteNames[lastNote] = name
        return lastNote
    }
}
