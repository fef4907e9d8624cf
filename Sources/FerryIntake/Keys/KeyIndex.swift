package import FerrySpool

/// Which keys came, with which bodies, how many events they held and which way they came: what came lately in memory, what came before in
/// ``KeyRuns``.
package struct KeyIndex: Sendable {
    private var recent = KeyMemory()
    /// What is being made a run of, or could not be.
    private var leaving: [KeyMemory] = []
    private var older: KeyRuns?
    /// Whether mere notes count for nothing.
    private var ignoresNotes = false

    /// How often halves were split themselves, at most, when a whole is looked for in them, and its pieces: 16 million of them.
    static let deepest = 24

    /// Creates an index.
    ///
    /// - Parameter older: What is known besides what will be added.
    package init(older: KeyRuns? = nil) { self.older = older }

    /// Adds a line of the log, in memory.
    package mutating func add(_ entry: ReceivedEntry) { recent.add(entry) }

    /// Returns the runs, to be taken further while what is in memory now leaves it; `nil` where there are none, or where few keys came lately.
    ///
    /// Until ``endLeaving(_:)`` is called, nothing of it is forgotten.
    ///
    /// - Parameter count: The number up to which keys count as few.
    package mutating func beginLeaving(moreThan count: Int) -> KeyRuns? {
        guard let older, recent.count > count else { return nil }
        leaving.append(recent)
        recent = KeyMemory()
        return older
    }

    /// Forgets what has left the memory.
    ///
    /// - Parameter runs: Those that tell about it.
    package mutating func endLeaving(_ runs: KeyRuns) {
        // All was read anew meanwhile: these may tell about less.
        if leaving.isEmpty { return }
        leaving = []
        older = runs
    }

    /// Forgets what the runs of logs tell that are gone. What of it is in memory stays until the index is made anew.
    package mutating func forget(_ logs: Set<String>) { older?.forget(logs) }

    /// The same without what is but noted, and may be gone.
    package var withoutNotes: KeyIndex {
        var index = self
        index.ignoresNotes = true
        return index
    }

    private func arrival(under hash: KeyHash) throws(KeyRunError) -> KeyArrival? {
        let recent = self.recent[hash]
        // A promise in memory is the last word.
        if let recent, !recent.isMereNote { return recent }
        var found: KeyArrival?
        func follow(_ later: KeyArrival?) {
            guard let later, found?.outweighs(later) != true else { return }
            found = later
        }
        for (entry, isOfHalf) in try older?.entries(under: hash) ?? [] where !isOfHalf { follow(KeyArrival(entry)) }
        for memory in leaving { follow(memory[hash]) }
        follow(recent)
        return ignoresNotes && found?.isMereNote == true ? nil : found
    }

    private func hasHalf(of hash: KeyHash) throws(KeyRunError) -> Bool {
        if recent.hasHalf(of: hash) || leaving.contains(where: { $0.hasHalf(of: hash) }) { return true }
        return try older?.hasHalf(of: hash) ?? false
    }

    /// Returns what is known of a key by itself; `nil` when it never came.
    package func known(_ key: String, segment: SegmentName?) throws(KeyRunError) -> KnownSegment? {
        guard let arrival = try arrival(of: key, segment) else { return nil }
        return KnownSegment(key: .came(arrival.digest), arrivals: [arrival.known(as: nil)])
    }

    /// Returns what is known of a segment: by its key, as a half of one that came whole, or as one that came in halves; `nil` when it is new.
    ///
    /// Halves have the time and the stream of their whole, its ID with what is appended to it, and half of its events. Keys that only look alike, as
    /// those that end in a counter, are other segments'.
    ///
    /// - Parameters:
    ///   - segment: The segment's name, as its sender gave it; `nil` where that gave none, or another tool's.
    ///   - events: How many it holds.
    package func known(_ key: String, segment: SegmentName?, events: Int64) throws(KeyRunError) -> KnownSegment? {
        if let known = try known(key, segment: segment) { return known }
        // An ID made from a key is that key's alone, at any time in the name.
        guard let id = SegmentID(key) else { return try knownInHalves(ReceivedID(key).id, nil, events) }
        guard let segment, let kin = KeyArrival.kin(of: segment) else { return nil }
        for whole in SegmentID.ancestors(of: key).prefix(Self.deepest) {
            guard let arrival = try arrivalOfWhole(whole, kin), arrival.events > 1,
                Self.share(of: arrival.events, splits: key.dropFirst(whole.text.count)) == events
            else { continue }
            return KnownSegment(key: .cameInParent, arrivals: [arrival.known(as: whole)])
        }
        if let known = try knownInHalves(id, kin, events) { return known }
        return try knownSalvaged(id, segment)
    }

    /// Returns what is known of a segment of which, or of whose whole or half, another version came: what was salvaged of it, or what a salvage was
    /// made of. It has some of its events.
    private func knownSalvaged(_ id: SegmentID, _ segment: SegmentName) throws(KeyRunError) -> KnownSegment? {
        let kins = [segment.salvaged, segment.beforeSalvage].map { KeyArrival.kin(of: $0) }
        func known(_ other: SegmentID) throws(KeyRunError) -> KnownSegment? {
            guard let arrival = try arrival(under: KeyHash(other.text)), arrival.kin != 0, kins.contains(arrival.kin) else {
                return nil
            }
            return KnownSegment(key: .came(arrival.digest), arrivals: [arrival.known(as: other)])
        }
        func knownPart(of whole: SegmentID, _ depth: Int) throws(KeyRunError) -> KnownSegment? {
            guard depth > 0, try hasHalf(of: KeyHash(whole.text)), let halves = whole.halves else { return nil }
            for half in [halves.first, halves.second] {
                if let known = try known(half) { return known }
                if let known = try knownPart(of: half, depth - 1) { return known }
            }
            return nil
        }
        for whole in SegmentID.ancestors(of: id.text).prefix(Self.deepest) {
            if let known = try known(whole) { return known }
        }
        return try knownPart(of: id, Self.deepest)
    }

    private func arrival(of key: String, _ segment: SegmentName?) throws(KeyRunError) -> KeyArrival? {
        if let arrival = try arrival(under: KeyHash(key)) { return arrival }
        // A relay sends what came under another tool's key under the ID that it made from it.
        if let id = SegmentID(key), let arrival = try arrivalUnderMadeKey(id) { return arrival }
        return segment?.id == key ? nil : try arrival(under: KeyHash(ReceivedID(key).text))
    }

    /// Returns what came under the key that an ID is made from.
    private func arrivalUnderMadeKey(_ id: SegmentID) throws(KeyRunError) -> KeyArrival? {
        guard let number = id.number else { return nil }
        return try arrival(under: KeyHash(number))
    }

    private func arrivalOfWhole(_ id: SegmentID, _ kin: Int) throws(KeyRunError) -> KeyArrival? {
        if let arrival = try arrival(of: id, kin) { return arrival }
        return try arrivalUnderMadeKey(id)
    }

    /// Returns what came under an ID.
    ///
    /// - Parameter kin: `nil`: any.
    private func arrival(of id: SegmentID, _ kin: Int?) throws(KeyRunError) -> KeyArrival? {
        guard let arrival = try arrival(under: KeyHash(id.text)), kin == nil || arrival.kin == kin else { return nil }
        return arrival
    }

    private func knownInHalves(_ id: SegmentID, _ kin: Int?, _ events: Int64) throws(KeyRunError) -> KnownSegment? {
        var found: [KnownArrival] = []
        let isWhole = try areHere(id, kin, events, Self.deepest, &found)
        if found.isEmpty { return nil }
        return KnownSegment(key: isWhole ? .cameInParent : .cameInPart, arrivals: found)
    }

    /// Returns whether both halves of a segment came, or halves of theirs.
    private func areHere(
        _ id: SegmentID, _ kin: Int?, _ events: Int64, _ depth: Int, _ found: inout [KnownArrival]
    ) throws(KeyRunError) -> Bool {
        guard depth > 0, events > 1, try hasHalf(of: KeyHash(id.text)), let halves = id.halves else { return false }
        var areHere = true
        for half in [halves.first, halves.second] {
            let events = Self.share(of: events, splits: half.text.suffix(1))
            if let arrival = try arrival(of: half, kin), arrival.events == events {
                found.append(arrival.known(as: half))
            } else if try !self.areHere(half, kin, events, depth - 1, &found) {
                areHere = false
            }
        }
        return areHere
    }

    /// Returns how many events a whole may have had of which `splits` left `share`.
    package static func wholes(of share: Int64, splits: Substring) -> ClosedRange<Int64> {
        splits.reversed().reduce(share...share) { range, split in
            split == "0"
                ? 2 * range.lowerBound - 1...2 * range.upperBound : 2 * range.lowerBound...2 * range.upperBound + 1
        }
    }

    /// Returns how many events splits leave of all: `0` for a first half, which gets the odd one, and `1` for a second.
    package static func share(of all: Int64, splits: Substring) -> Int64 {
        splits.reduce(all) { $1 == "0" ? $0 - $0 / 2 : $0 / 2 }
    }
}
