import FerryIntake
import FerrySpool
import Glibc

/// Tells whether a segment came before, and whether the spool may vouch for it.
struct Recognition: Sendable {
    private let spool: Spool
    let keys: ReceivedKeys
    private let sentOn = SentOn()
    private let left = LeftSegments()
    let ways = Ways()
    private let present: PresentIDs?

    init(_ spool: Spool, _ ids: FolderIDs?) throws(FileError) {
        self.spool = spool
        present = PresentIDs(spool.directory, ids)
        keys = try ReceivedKeys(spool)
    }

    /// Returns what came under a part's key, where that is vouched for without a look at the spool.
    func vouchedFor(_ part: JoinedSegments.Part, from sender: String?) throws(FileError) -> KnownKey? {
        guard let key = part.identity.key, let known = try keys.known(key, segment: part.identity.givenName),
            Vouching(way: part.trail.adding(sender), isOriginal: part.trail == .none, arrivals: known.arrivals) != nil
        else { return nil }
        return known.key
    }

    /// Returns whether that is so of all of a request.
    func areVouchedFor(_ parts: [JoinedSegments.Part], from sender: String?) throws(FileError) -> Bool {
        for part in parts where try vouchedFor(part, from: sender) == nil { return false }
        return true
    }

    /// Returns whether all of a request came before, even if it is gone since.
    func areKnown(_ parts: [JoinedSegments.Part]) throws(FileError) -> Bool {
        for part in parts {
            guard let key = part.identity.key, try keys.known(key, segment: part.identity.givenName) != nil else { return false }
        }
        return true
    }

    /// Returns what a candidate is that needs no look at the spool; `nil` for one that is new, or that needs it.
    func result(withoutLook candidate: AdmissionCandidate) throws(FileError) -> AdmissionResult? {
        guard let known = try known(candidate) else { return nil }
        if let other = Self.difference(candidate, known) { return other }
        let vouching = Vouching(way: candidate.way, isOriginal: candidate.isOriginal, arrivals: known.arrivals)
        return vouching == .vouched ? .duplicate : nil
    }

    /// Returns what a candidate is; `nil` for one that is new, or is taken again.
    func result(_ candidate: AdmissionCandidate) throws(FileError) -> AdmissionResult? {
        if let result = try result(withoutLook: candidate) { return result }
        guard let name = SegmentName(candidate.entry.segment) else { return nil }
        guard let known = try known(candidate) else {
            return try wasDelivered(withWholeOf: name, events: candidate.entry.events, by: candidate.way) ? .duplicate : nil
        }
        let fates = try fates(of: known, candidate.identity, name, whichCame: candidate.way)
        switch Vouching(fates) {
        case .vouched: return .duplicate
        case .underWay: return .leaving
        case .takenAgain:
            // What was noted of it is lost. Of its halves, or of what it is a half of, more may be known for sure.
            guard fates.contains(.lost), let key = candidate.identity.key,
                let rest = try keys.knownWithoutNotes(key, segment: candidate.identity.givenName, events: candidate.entry.events)
            else { return nil }
            if let other = Self.difference(candidate, rest) { return other }
            return switch Vouching(try self.fates(of: rest, candidate.identity, name, whichCame: candidate.way)) {
            case .vouched: .duplicate
            case .underWay: .leaving
            case .takenAgain: nil
            }
        }
    }

    /// Returns whether a segment is a half of one that other tools brought, which was delivered from here to a server that is no spool before
    /// anything of it was logged: the ledger alone knows it.
    private func wasDelivered(
        withWholeOf half: SegmentName, events: Int64, by way: Trail
    ) throws(FileError) -> Bool {
        guard !way.spools.isEmpty, (1..<Self.mostEvents).contains(events) else { return false }
        var wholes: [(segment: SegmentName, events: ClosedRange<Int64>)] = []
        for id in SegmentID.ancestors(of: half.id).prefix(Self.deepestHalf) {
            let whole = half.with(id: id)
            // Of one that is logged, the log tells whether this is a half.
            if try keys.known(id.text, segment: whole) != nil { return false }
            let range = KeyIndex.wholes(of: events, splits: half.id.dropFirst(id.text.count))
            // One event is never split.
            if range.upperBound > 1 { wholes.append((whole, max(2, range.lowerBound)...range.upperBound)) }
        }
        if wholes.isEmpty { return false }
        // The whole, or the half itself, may have been split here.
        let sent: [SegmentName]
        if let whole = try left.firstSent(of: wholes, from: spool) {
            sent = [whole]
        } else {
            sent = try left.sentParts(of: half, events: events, from: spool) ?? []
        }
        if sent.isEmpty { return false }
        for part in sent {
            guard let id = SegmentID(part.id), try !sentOn.contains(id, in: spool) else { return false }
        }
        return true
    }

    /// Of a half of a half of a half it may be known how many events the whole had, but for 255.
    private static let deepestHalf = 8
    /// A segment has fewer.
    private static let mostEvents: Int64 = 1 << 40

    /// Returns whether something of a segment, its halves or its whole may lie here.
    func mayBeHere(_ segment: SegmentName) -> Bool { present?.mayHold(segment.kinIDs) ?? true }

    private func fates(
        of known: KnownSegment, _ identity: SegmentIdentity, _ name: SegmentName, whichCame way: Trail
    ) throws(FileError) -> [Vouching.Fate] {
        var fates: [Vouching.Fate] = []
        for arrival in known.arrivals {
            let segment = try self.name(of: arrival, identity, name)
            var fate = try fate(of: segment, whichCame: way)
            if fate == .kept, let noted = arrival.noted, try !spool.received.keepsCopy(of: segment, noted, left) { fate = .lost }
            fates.append(fate)
        }
        return fates
    }

    /// Returns the name of what came before.
    ///
    /// - Parameter name: What comes now, which its sender may have given no name: what other tools brought has one, which is in the log.
    private func name(
        of arrival: KnownArrival, _ identity: SegmentIdentity, _ name: SegmentName
    ) throws(FileError) -> SegmentName {
        // Under its own name it is found without a look at the whole folder.
        if let noted = arrival.segment, try spool.directory.contains(noted.fileName) { return noted }
        if let id = arrival.id { return name.with(id: id) }
        guard identity.givenName == nil, let key = identity.key, SegmentID(key) != nil else { return name }
        return arrival.segment ?? name
    }

    func isKnown(_ candidate: AdmissionCandidate) throws(FileError) -> Bool { try known(candidate) != nil }

    private func known(_ candidate: AdmissionCandidate) throws(FileError) -> KnownSegment? {
        guard let key = candidate.identity.key else { return nil }
        return try keys.known(key, segment: candidate.identity.givenName, events: candidate.entry.events)
    }

    private static func difference(_ candidate: AdmissionCandidate, _ known: KnownSegment) -> AdmissionResult? {
        if known.key == .cameInPart { return .inPart }
        return known.key.agrees(with: candidate.body.digest) ? nil : .conflict
    }

    /// Returns what became of a segment.
    ///
    /// - Parameter way: Noted before the look: an uploader that claims the segment later reads it, and one that has claimed it is seen.
    private func fate(of segment: SegmentName, whichCame way: Trail) throws(FileError) -> Vouching.Fate {
        try spool.wayNotes.note(way, of: segment, besides: ways)
        let forms = try spool.pendingForms(of: segment)
        for name in forms where try spool.exports.isLeaving(name) { return .underWay }
        // It came again since it was sent on: it itself, and no version of another time that was salvaged of it.
        let isPending = forms.contains { form in
            SegmentName(form).map { ($0.id, $0.created) == (segment.id, segment.created) } ?? false
        }
        if isPending { return .kept }
        guard let id = SegmentID(segment.id) else { return .kept }
        if let fate = try fateOfWholes(of: segment, whichCame: way) { return fate }
        return try sentOn.contains(id, in: spool) ? .sentOn : .kept
    }

    /// Returns what became of the segments that one may be a half of: where such a copy lay here, the half was answered for with its events.
    private func fateOfWholes(of segment: SegmentName, whichCame way: Trail) throws(FileError) -> Vouching.Fate? {
        var isHere = false
        for id in SegmentID.ancestors(of: segment.id) {
            if try sentOn.contains(id, in: spool) { return .sentOn }
            guard present?.mayHold([id]) ?? true else { continue }
            let whole = segment.with(id: id)
            try spool.wayNotes.note(way, of: whole, besides: ways)
            for name in try spool.pendingForms(of: whole) where SegmentName(name)?.id == id.text {
                if try spool.exports.isLeaving(name) { return .underWay }
                isHere = true
            }
        }
        return isHere ? .kept : nil
    }

    /// Returns why a segment that is too large is not to be split by its sender: it is here, or was, and its halves would be the same events under
    /// other keys. `nil`: nothing is known of it.
    ///
    /// - Parameters:
    ///   - bytes: What comes.
    ///   - limit: What is taken at most.
    func bar(splitting part: JoinedSegments.Part, of bytes: ByteCount, limit: ByteCount) throws(FileError) -> IntakeError? {
        let segment = part.identity.name
        for form in try spool.pendingForms(of: segment) where SegmentName(form)?.id == segment.id {
            return try spool.exports.isLeaving(form) ? .circle(.leaving) : .unsoundThere(name: form)
        }
        guard try left.wasSent(segment, bytes: bytes.bytes, from: spool) else { return nil }
        if try left.takesHalves(of: segment, bytes: bytes.bytes, from: spool) { return nil }
        return .sentOn(name: segment.fileName, limit: limit)
    }

    /// Makes known what is pending here of what comes, and came another way than over this receiver, by rsync say.
    ///
    /// - Returns: `false` when some of it is just coming, and cannot be judged yet.
    func adoptKin(of segment: SegmentName) throws(FileError) -> Bool {
        if !mayBeHere(segment) { return true }
        let isKnown = { (kin) throws(FileError) in try keys.known(kin.id, segment: kin) != nil }
        switch try spool.received.adoptKin(of: segment, ways, unless: isKnown) {
        case .nothingNew: break
        case .logged: try spool.received.follow(keys.log, at: .now())
        case .unfinished: return false
        }
        return true
    }

    /// Notes that the sender of a segment that is here was answered so: it is received from then on, and must not go back on the way that it came
    /// now.
    ///
    /// - Parameter sender: The spool that sends it; `nil` where none is named.
    func note(_ answers: [(part: JoinedSegments.Part, segment: ReceivedSegment)], from sender: String?) throws(FileError) {
        let judged = try answers.map { (part, received) throws(FileError) in
            guard let key = part.identity.key,
                let known = try keys.known(key, segment: part.identity.givenName, events: received.events ?? 0)
            else { return Judged(part: part, received: received, known: nil, names: [part.identity.name]) }
            let names = try known.arrivals.map { (arrival) throws(FileError) in
                try name(of: arrival, part.identity, part.identity.name)
            }
            return Judged(part: part, received: received, known: known, names: names)
        }
        if let sender {
            // One by one, each of them would list the folder.
            let forms = judged.count > Self.mostLookedFor ? try spool.forms(of: judged.flatMap(\.names)) : nil
            for one in judged {
                for name in one.names {
                    try spool.wayNotes.note(one.part.trail.adding(sender), of: name, besides: ways, forms: forms)
                }
            }
        }
        var entries: [ReceivedEntry] = []
        for one in judged {
            if let entry = try entry(of: one, from: sender) { entries.append(entry) }
        }
        // All at once: none is promised where another cannot be.
        if !entries.isEmpty { try spool.received.log(entries) }
    }

    /// Of more segments than that, a folder is listed once for all.
    private static let mostLookedFor = 2

    /// A segment that is here, by what is known of it.
    private struct Judged {
        let part: JoinedSegments.Part
        let received: ReceivedSegment
        let known: KnownSegment?
        /// Of what came before, in its order.
        let names: [SegmentName]
    }

    /// Returns what is to be logged of a segment that is here, if anything is.
    private func entry(of one: Judged, from sender: String?) throws(FileError) -> ReceivedEntry? {
        let (part, received) = (one.part, one.received)
        let way = sender.map { part.trail.adding($0) } ?? part.trail
        guard let known = one.known else {
            // The ledger knows it.
            let wasDelivered = try wasDelivered(withWholeOf: part.identity.name, events: received.events ?? 0, by: way)
            return wasDelivered ? nil : try newEntry(of: part, as: received)
        }
        for (arrival, segment) in zip(known.arrivals, one.names) {
            guard let noted = arrival.noted else { continue }
            // Other tools may have taken a copy away since it was compared, while the rest of the request came.
            guard try spool.received.keepsCopy(of: segment, noted, left) else {
                // More may be known of it for sure, for which nothing is to be logged.
                if try isVouchedForWithoutNotes(part, received, whichCame: way) { return nil }
                throw FileError("find", spool.directory.pathOf(segment.fileName), code: ENOENT)
            }
            // Or it leaves just now: the sender's next try is judged by that.
            guard try fate(of: segment, whichCame: way) == .kept else {
                throw FileError("vouch for", spool.directory.pathOf(segment.fileName), code: EBUSY)
            }
        }
        let own = zip(known.arrivals, one.names).first { $0.0.id == nil }?.1 ?? part.identity.name
        return known.answer(
            to: ReceivedEntry(
                at: .now(), key: own.id, sha256: received.digest.hexadecimal, segment: own.fileName, bytes: received.bytes.bytes,
                events: received.events ?? 0, trail: nil))
    }

    /// Returns whether a segment that is here, as a look before its answer showed, is known by more than what is but noted.
    private func isVouchedForWithoutNotes(
        _ part: JoinedSegments.Part, _ received: ReceivedSegment, whichCame way: Trail
    ) throws(FileError) -> Bool {
        guard let key = part.identity.key,
            let rest = try keys.knownWithoutNotes(key, segment: part.identity.givenName, events: received.events ?? 0),
            rest.key.agrees(with: received.digest)
        else { return false }
        return try Vouching(fates(of: rest, part.identity, part.identity.name, whichCame: way)) == .vouched
    }

    /// Makes the line for a segment that is in no log, and was compared with what comes.
    private func newEntry(of part: JoinedSegments.Part, as received: ReceivedSegment) throws(FileError) -> ReceivedEntry {
        let name = part.identity.name.fileName
        guard let file = try spool.directory.open(name), try file.digest().digest == received.digest else {
            throw FileError("find", spool.directory.pathOf(name), code: ENOENT)
        }
        let events = if let events = received.events { events } else { try file.soundEvents() ?? 0 }
        return ReceivedEntry(
            at: .now(), key: part.identity.key ?? part.identity.name.id, sha256: received.digest.hexadecimal, segment: name,
            bytes: received.bytes.bytes, events: events, trail: part.trail, answered: true)
    }
}
