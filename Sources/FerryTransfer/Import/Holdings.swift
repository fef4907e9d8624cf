import FerryIntake
import FerrySpool
import Glibc

/// Which keys a hub has the bytes of.
///
/// The log says which keys came; a key counts only if what came with it is here, or has ended as the ledger tells. A line in the log
/// alone vouches for nothing.
struct Holdings {
    private let hub: Spool
    /// The keys that will be asked for, and those of the segments that they may be halves of; of another tool's, the IDs made from them too.
    private let keys: Set<String>
    private var entries: [String: ReceivedEntry] = [:]
    /// The IDs of what came in halves, or may have.
    private var wholes: Set<String> = []
    private var place = ReceivedLogPlace()
    /// Read when they are first asked for.
    private var sent: Set<FileName>?
    /// What was taken for good: by another spool or server, or by a limit.
    private var taken: Set<String>?
    private var split: Set<String>?
    /// The names of what lies in `rejected/`, by what they keep at any priority.
    private var rejected: [String: [String]]?
    /// The names of what is pending: it may have got another priority since it came.
    private var pending: [String: String]?
    /// By the IDs of segments the names of what is pending of them: themselves, and their halves.
    private var families: [String: [String]]?
    private var handedOn: HandedOn
    private let present: PresentIDs?
    private let sentOn = SentOn()
    private let left = LeftSegments()
    let ways = Ways()

    /// Reads what the hub's logs know of some keys.
    ///
    /// - Parameter keys: The keys that will be asked for.
    init(of hub: Spool, keys: Set<String>) throws(FileError) {
        self.hub = hub
        handedOn = HandedOn(from: hub)
        present = PresentIDs(hub.directory, FolderIDs())
        self.keys = keys.reduce(into: keys) { keys, key in
            keys.formUnion(ReceivedID.keys(like: key))
            keys.formUnion(SegmentID.ancestors(of: key).map(\.text))
        }
        guard !keys.isEmpty else { return }
        let runs = try KeyRuns(of: hub)
        do throws(KeyRunError) {
            for entry in try runs.entries(of: self.keys) { add(entry) }
            place = runs.place
        } catch {
            // The logs have all of it.
            switch error {
            case .file(let error): throw error
            case .unusable(let name): KeyRuns.remove(name, of: hub)
            }
        }
        try readLog()
    }

    private mutating func readLog() throws(FileError) {
        guard !keys.isEmpty else { return }
        var new: [ReceivedEntry] = []
        try hub.received.forEach(after: &place) { [keys] entry in
            let isWanted =
                keys.contains(entry.key) || keys.contains(entry.id)
                || SegmentID.ancestors(of: entry.id).contains { keys.contains($0.text) }
            if isWanted { new.append(entry) }
        }
        for entry in new { add(entry) }
    }

    /// Makes known what is pending at the hub of what comes, and came another way, by rsync say.
    ///
    /// - Returns: `false` when some of it is just coming, and cannot be judged yet.
    func adoptKin(of segment: String) throws(FileError) -> Bool {
        guard let segment = SegmentName(segment), present?.mayHold(segment.kinIDs) ?? true else { return true }
        // A line of what is gone, or of another version, says nothing of what lies here.
        let adoption = try hub.received.adoptKin(of: segment, ways) { kin in
            guard let entry = entries[kin.id], Self.identity(entry.segment) == Self.identity(kin.fileName) else { return false }
            return ((try? hub.directory.status(kin.fileName)) ?? nil)?.size == ByteCount(entry.bytes)
        }
        return adoption != .unfinished
    }

    /// Reads what was logged, and sent on, since the last look.
    mutating func lookAgain() throws(FileError) {
        try readLog()
        handedOn = HandedOn(from: hub)
        sent = nil
        (taken, split) = (nil, nil)
        (pending, families, rejected) = (nil, nil, nil)
    }

    /// Returns what is known of a key; `nil` when the hub does not have it.
    ///
    /// - Parameters:
    ///   - segment: The segment's name, which a half has from its whole but for what is appended to the ID.
    ///   - events: How many it holds, which tells halves from what only has such an ID; `nil`: not known yet.
    mutating func known(_ key: String, segment: String, events: Int64?) throws(FileError) -> KnownSegment? {
        if let entry = entries[key], let digest = BodyDigest(hexadecimal: entry.sha256), try isHere(entry) {
            return KnownSegment(key: .came(digest), arrivals: [entry.arrival])
        }
        guard let events else { return nil }
        for parent in SegmentID.ancestors(of: key) {
            guard let entry = entries[parent.text], entry.events > 1,
                entry.key != parent.text || Self.areKin(entry.segment, segment),
                KeyIndex.share(of: entry.events, splits: key.dropFirst(parent.text.count)) == events
            else { continue }
            if try isHere(entry) { return KnownSegment(key: .cameInParent, arrivals: [entry.arrival]) }
        }
        // An ID made from a key is that key's alone, at any time in the name.
        var halves: [KnownArrival] = []
        let isAll = try findHalves(
            of: SegmentID(key) ?? ReceivedID(key).id, SegmentID(key) == nil ? nil : segment, events, &halves)
        if halves.isEmpty { return try knownSalvaged(key, segment) }
        return KnownSegment(key: isAll ? .cameInParent : .cameInPart, arrivals: halves)
    }

    /// Returns what is known of a segment of which, or of whose whole or half, another version came, as a receiver knows it.
    private mutating func knownSalvaged(_ key: String, _ segment: String) throws(FileError) -> KnownSegment? {
        guard let id = SegmentID(key), let segment = SegmentName(segment) else { return nil }
        let versions = [segment.salvaged.fileName, segment.beforeSalvage.fileName]
        var others = SegmentID.ancestors(of: key)
        // Its halves, theirs, …
        var next = [id]
        while let whole = next.popLast() {
            guard wholes.contains(whole.text), let halves = whole.halves else { continue }
            others += [halves.first, halves.second]
            next += [halves.first, halves.second]
        }
        for other in others {
            guard let entry = entries[other.text], versions.contains(where: { Self.areKin($0, entry.segment) }),
                let digest = BodyDigest(hexadecimal: entry.sha256), try isHere(entry)
            else { continue }
            return KnownSegment(key: .came(digest), arrivals: [entry.arrival])
        }
        return nil
    }

    /// Returns whether both halves of a segment are here, or halves of theirs.
    ///
    /// - Parameter segment: The segment's name; `nil`: its halves may have any.
    private mutating func findHalves(
        of id: SegmentID, _ segment: String?, _ events: Int64, _ found: inout [KnownArrival]
    ) throws(FileError) -> Bool {
        guard events > 1, wholes.contains(id.text), let halves = id.halves else { return false }
        var isAll = true
        for half in [halves.first, halves.second] {
            let share = KeyIndex.share(of: events, splits: half.text.suffix(1))
            if let entry = entries[half.text], entry.events == share, segment.map({ Self.areKin(entry.segment, $0) }) ?? true,
                try isHere(entry)
            {
                found.append(entry.arrival)
            } else if try !findHalves(of: half, segment, share, &found) {
                isAll = false
            }
        }
        return isAll
    }

    private static func areKin(_ one: String, _ other: String) -> Bool {
        guard let one = SegmentName(one), let other = SegmentName(other) else { return false }
        return (one.created, one.stream) == (other.created, other.stream)
    }

    /// Returns whether the hub may vouch for a segment that it knows.
    ///
    /// - Parameters:
    ///   - way: The way that the segment came to the bundle's spool.
    ///   - spool: The bundle's.
    ///   - name: The segment's name in the hub's spool.
    mutating func vouching(
        for known: KnownSegment, whichCame way: Trail, from spool: String, as name: String
    ) throws(FileError) -> Vouching {
        let whole = way.adding(spool)
        if let vouching = Vouching(way: whole, isOriginal: way == .none, arrivals: known.arrivals) { return vouching }
        var fates: [Vouching.Fate] = []
        for arrival in known.arrivals {
            guard let id = arrival.id ?? SegmentName(name).flatMap({ SegmentID($0.id) }) else { continue }
            fates.append(try fate(of: id, SegmentName(name)?.created, whichCame: whole))
        }
        return Vouching(fates)
    }

    /// Returns what became of a segment.
    ///
    /// - Parameter way: Noted before the look, as a receiver does.
    private mutating func fate(
        of id: SegmentID, _ created: Timestamp?, whichCame way: Trail
    ) throws(FileError) -> Vouching.Fate {
        var isPending = false
        for form in try pendingForms(of: id) {
            guard let segment = SegmentName(form) else { continue }
            isPending = isPending || segment.id == id.text && segment.created == created
            try hub.wayNotes.note(way, of: segment, besides: ways)
            do throws(FileError) {
                if try hub.exports.isLeaving(form) { return .underWay }
            } catch {
                if error.isOutOfFiles { throw error }
                // Another user's, say: it cannot be known.
                return .underWay
            }
        }
        // It came again since it was sent on: it itself, and no version of another time that was salvaged of it.
        if isPending { return .kept }
        return try sentOn.contains(id, in: hub) ? .sentOn : .kept
    }

    /// Returns the names of the pending files that hold a segment's events.
    private mutating func pendingForms(of id: SegmentID) throws(FileError) -> [String] {
        if families == nil {
            var found: [String: [String]] = [:]
            for name in try names().values {
                guard let pending = SegmentName(name)?.id else { continue }
                for id in [pending] + SegmentID.ancestors(of: pending).map(\.text) { found[id, default: []].append(name) }
            }
            families = found
        }
        return families?[id.text] ?? []
    }

    /// Returns why what the hub has of a key is none to vouch for; `nil` when it is.
    ///
    /// - Parameters:
    ///   - name: The segment's name in the hub's spool.
    ///   - segment: As the bundle describes it.
    ///   - head: Of the bundle that brings it again.
    mutating func ownClaim(
        on name: String, _ segment: BundleManifest.Segment, against head: BundleManifest.Head
    ) throws(FileError) -> HandedOn.Claim? {
        if segment.way.spools.contains(hub.id) { return .wentOn }
        if came(segment.key, with: head.bundle) { return nil }
        return try handedOn.claim(on: name, against: head.spool)
    }

    /// Returns whether a segment came with this very bundle: that was exported before any bundle of the hub's that has the segment.
    func came(_ key: String, with bundle: String) -> Bool { entries[key]?.bundle == bundle }

    mutating func add(_ entry: ReceivedEntry) {
        // A note takes no promise back, wherever a clock that was set or midnight puts it in the logs.
        let before = entries[entry.id] ?? entries[entry.key]
        if entry.isMereNote, let before, !before.isMereNote, before.sha256 == entry.sha256 { return }
        entries[entry.key] = entry
        entries[entry.id] = entry
        for whole in SegmentID.ancestors(of: entry.id) { wholes.insert(whole.text) }
    }

    private mutating func isHere(_ entry: ReceivedEntry) throws(FileError) -> Bool {
        if let noted = entry.arrival.noted, let segment = SegmentName(entry.segment) {
            return try hub.received.keepsCopy(of: segment, noted, left)
        }
        if let gathered = entry.gathered, let end = entry.end { return try isHere(entry, in: gathered, upTo: end) }
        // Logged, and about to get its name; looked for first, since it moves from here to there.
        if let file = entry.file, try holds(file, entry, in: hub.directory) { return true }
        if try holds(entry.segment, entry, in: hub.directory) { return true }
        if sent == nil { sent = try sentNames() }
        if sent?.contains(entry.segment) == true { return true }
        if let folder = try hub.rejectedFolder() {
            // One that cannot be read vouches for nothing, and keeps nothing else out.
            for name in try rejectedNames(of: entry.segment, in: folder) where try holds(name, entry, in: folder) { return true }
        }
        if try hasEnded(Self.identity(entry.segment)) { return true }
        let renamed = try names()[Self.identity(entry.segment)]
        if let renamed, renamed != entry.segment, try holds(renamed, entry, in: hub.directory) { return true }
        return try SegmentName(entry.segment).map { segment throws(FileError) in try areHalvesHere(segment, entry.events) }
            ?? false
    }

    /// Returns whether what a segment was gathered in is here: in the making, pending, rejected, split, or ended as the ledger tells.
    private mutating func isHere(
        _ entry: ReceivedEntry, in gathered: String, upTo end: Int64
    ) throws(FileError) -> Bool {
        if let file = entry.file, try holds(file, entry, upTo: end, in: hub.directory) { return true }
        if try holds(gathered, entry, upTo: end, in: hub.directory) { return true }
        if sent == nil { sent = try sentNames() }
        if sent?.contains(FileName(gathered)) == true { return true }
        if let folder = try hub.rejectedFolder() {
            for name in try rejectedNames(of: gathered, in: folder) where try holds(name, entry, upTo: end, in: folder) {
                return true
            }
        }
        let identity = Self.identity(gathered)
        if try hasEnded(identity) { return true }
        if let renamed = try names()[identity], renamed != gathered, try holds(renamed, entry, upTo: end, in: hub.directory) {
            return true
        }
        if split == nil { split = Set(try hub.ledger.segments(thatWere: [.split]).map(Self.identity)) }
        return split?.contains(identity) ?? false
    }

    private mutating func hasEnded(_ identity: String) throws(FileError) -> Bool {
        if taken == nil { taken = Set(try hub.ledger.segments(thatWere: [.sent, .expired, .evicted]).map(Self.identity)) }
        return taken?.contains(identity) ?? false
    }

    /// Returns whether a segment was split here, and both halves are pending, rejected or have ended, or their halves.
    private mutating func areHalvesHere(_ segment: SegmentName, _ events: Int64) throws(FileError) -> Bool {
        if split == nil { split = Set(try hub.ledger.segments(thatWere: [.split]).map(Self.identity)) }
        guard split?.contains(Self.identity(segment.fileName)) ?? false, let halves = SegmentID(segment.id)?.halves else {
            return false
        }
        for half in [halves.first, halves.second].map({ segment.with(id: $0) }) {
            let share = KeyIndex.share(of: events, splits: half.id.suffix(1))
            let identity = Self.identity(half.fileName)
            if let name = try names()[identity], try holds(name, events: share, in: hub.directory) { continue }
            if try isRejected(half.fileName, events: share) { continue }
            if try hasEnded(identity) { continue }
            guard try areHalvesHere(half, share) else { return false }
        }
        return true
    }

    /// Returns the names of what is pending.
    private mutating func names() throws(FileError) -> [String: String] {
        if let pending { return pending }
        let names = try hub.directory.names().reduce(into: [String: String]()) { names, name in
            if SegmentName(name) != nil { names[Self.identity(name)] = name }
        }
        pending = names
        return names
    }

    /// Returns what a segment keeps at any priority and in any stream: its ID, and its time, which tells versions of one ID apart. Of another tool's
    /// its name.
    private static func identity(_ name: String) -> String {
        SegmentName(name).map { "\($0.created.milliseconds)-\($0.id)" } ?? name
    }

    /// Returns those of the logged segments that are in `sent/`. One folder after the other is open: there may be one for every day of some years.
    ///
    /// - Throws: `FileError` of a disk that fails now, which ends the import: what it holds would be stored a second time.
    private func sentNames() throws(FileError) -> Set<FileName> {
        let wanted = Set(entries.values.map { FileName($0.gathered ?? $0.segment) })
        var found: Set<FileName> = []
        guard let folder = try hub.sentFolder() else { return found }
        for day in try folder.names() {
            do throws(FileError) {
                for name in try folder.directory(day).names() where wanted.contains(name) { found.insert(name) }
            } catch {
                // What may not be looked into, or is no folder, holds nothing that could be vouched for.
                guard [EACCES, ENOTDIR, ELOOP, ENOENT].contains(error.code) else { throw error }
            }
        }
        return found
    }

    private mutating func isRejected(_ half: String, events: Int64) throws(FileError) -> Bool {
        guard let folder = try hub.rejectedFolder() else { return false }
        for name in try rejectedNames(of: half, in: folder) where try holds(name, events: events, in: folder) { return true }
        return false
    }

    /// Returns the names of its copies, at any priority that they have by now.
    private mutating func rejectedNames(of segment: String, in folder: Directory) throws(FileError) -> [String] {
        if rejected == nil { rejected = Dictionary(grouping: try folder.names()) { Self.identity($0.withoutCopyNumber) } }
        return rejected?[Self.identity(segment)] ?? []
    }

    /// Returns whether a half is whole: it is in no log, so its events are counted.
    private func holds(_ half: String, events: Int64, in folder: Directory) throws(FileError) -> Bool {
        do throws(FileError) { return try folder.open(half)?.soundEvents() == events } catch {
            if error.isOutOfFiles { throw error }
            return false
        }
    }

    /// Returns whether a file has the bytes that were logged: the bundle's spool deletes its own for it, so they are read.
    ///
    /// - Parameter end: Of the bytes, where others are before and behind them; `nil`: the file has no others.
    private func holds(
        _ name: String, _ entry: ReceivedEntry, upTo end: Int64? = nil, in folder: Directory
    ) throws(FileError) -> Bool {
        let start = max(0, (end ?? entry.bytes).subtracting(entry.bytes))
        guard let status = try folder.status(name), status.isRegular,
            end.map({ status.size >= ByteCount($0) }) ?? (status.size == ByteCount(entry.bytes))
        else { return false }
        do throws(FileError) {
            guard let file = try folder.open(name) else { return false }
            return try file.digest(from: start, size: max(0, entry.bytes)).digest == BodyDigest(hexadecimal: entry.sha256)
        } catch {
            if error.isOutOfFiles { throw error }
            return false
        }
    }
}

extension ReceivedEntry {
    fileprivate var arrival: KnownArrival {
        let noted = BodyDigest(hexadecimal: sha256).map { CopiedContent(digest: $0, bytes: bytes, events: events) }
        return KnownArrival(id: SegmentID(id), way: trail.flatMap { Trail($0) }, noted: isMereNote ? noted : nil)
    }

    /// Of its segment: the key, unless that is another tool's. The halves of such a segment have it in their IDs.
    fileprivate var id: String { SegmentName(segment)?.id ?? key }
}
