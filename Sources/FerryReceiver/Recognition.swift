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

    init(_ spool: Spool) throws(FileError) {
        self.spool = spool
        keys = try ReceivedKeys(spool)
    }

    /// What came under a part's key, where that is vouched for without a look at the spool.
    func vouchedFor(_ part: JoinedSegments.Part, from sender: String?) -> KnownKey? {
        guard let key = part.identity.key, let known = keys.known(key, segment: part.identity.givenName),
            Vouching(way: part.trail.adding(sender), isOriginal: part.trail == .none, arrivals: known.arrivals) != nil
        else { return nil }
        return known.key
    }

    /// What a candidate is that needs no look at the spool; `nil` for one that is new, or that needs it.
    func result(withoutLook candidate: Admission.Candidate) -> AdmissionResult? {
        guard let known = known(candidate) else { return nil }
        if let other = Self.difference(candidate, known) { return other }
        let vouching = Vouching(way: candidate.way, isOriginal: candidate.isOriginal, arrivals: known.arrivals)
        return vouching == .vouched ? .duplicate : nil
    }

    /// What a candidate is; `nil` for one that is new, or is taken again.
    func result(_ candidate: Admission.Candidate) throws(FileError) -> AdmissionResult? {
        if let result = result(withoutLook: candidate) { return result }
        guard let known = known(candidate), let name = SegmentName(candidate.entry.segment) else { return nil }
        var fates: [Vouching.Fate] = []
        for arrival in known.arrivals {
            let segment = try self.name(of: arrival, candidate.identity, name)
            var fate = try fate(of: segment, whichCame: candidate.way)
            if fate == .kept, let noted = arrival.noted, try !spool.keepsCopy(of: segment, noted, left) { fate = .lost }
            fates.append(fate)
        }
        return switch Vouching(fates) {
        case .vouched: .duplicate
        case .underWay: .leaving
        case .takenAgain: nil
        }
    }

    /// The name of what came before.
    ///
    /// - Parameter name: What comes now, which its sender may have given no name: what other tools brought has one, which is in the log.
    private func name(
        of arrival: KnownArrival, _ identity: SegmentIdentity, _ name: SegmentName
    ) throws(FileError) -> SegmentName {
        if let id = arrival.id { return name.with(id: id) }
        guard arrival.noted != nil, identity.givenName == nil, let key = identity.key, SegmentID(key) != nil else { return name }
        return try spool.receivedSegment(under: key) ?? name
    }

    func isKnown(_ candidate: Admission.Candidate) -> Bool { known(candidate) != nil }

    private func known(_ candidate: Admission.Candidate) -> KnownSegment? {
        candidate.identity.key.flatMap { keys.known($0, segment: candidate.identity.givenName, events: candidate.entry.events) }
    }

    private static func difference(_ candidate: Admission.Candidate, _ known: KnownSegment) -> AdmissionResult? {
        if known.key == .cameInPart { return .inPart }
        return known.key.agrees(with: candidate.digest) ? nil : .conflict
    }

    /// - Parameter way: Noted before the look: an uploader that claims the segment later reads it, and one that has claimed it is seen.
    private func fate(of segment: SegmentName, whichCame way: Trail) throws(FileError) -> Vouching.Fate {
        try spool.note(way, of: segment, besides: ways)
        let forms = try spool.pendingForms(of: segment)
        for name in forms where try spool.isLeaving(name) { return .underWay }
        // It came again since it was sent on: it itself, and no version of another time that was salvaged of it.
        let isPending = forms.contains { form in
            SegmentName(form).map { ($0.id, $0.created) == (segment.id, segment.created) } ?? false
        }
        if isPending { return .kept }
        guard let id = SegmentID(segment.id) else { return .kept }
        return try sentOn.contains(id, in: spool) ? .sentOn : .kept
    }

    /// Makes known what is pending here of what comes, and came another way than over this receiver, by rsync say.
    ///
    /// - Returns: `false` when some of it is just coming, and cannot be judged yet.
    func adoptKin(of segment: SegmentName) throws(FileError) -> Bool {
        switch try spool.adoptKin(of: segment, ways, unless: { keys.known($0.id, segment: $0) != nil }) {
        case .nothingNew: break
        case .logged: try spool.follow(keys.log, at: .now())
        case .unfinished: return false
        }
        return true
    }

    /// Notes of what is here that its sender is told so: it is received from then on, and must not go back on the way that it came now.
    ///
    /// - Parameter way: With the spool that sends it; `nil` where the sender names none.
    func note(_ way: Trail?, of part: JoinedSegments.Part, as received: ReceivedSegment) throws(FileError) {
        let identity = part.identity
        let known = identity.key.flatMap { keys.known($0, segment: identity.givenName, events: received.events ?? 0) }
        var answers: [ReceivedEntry] = []
        for arrival in known?.arrivals ?? [] {
            let segment = try name(of: arrival, identity, identity.name)
            if let way { try spool.note(way, of: segment, besides: ways) }
            guard let noted = arrival.noted else { continue }
            // Other tools may have taken a copy away since it was compared, while the rest of the request came.
            let isKept = try fate(of: segment, whichCame: way ?? part.trail) == .kept
            if isKept, try !spool.keepsCopy(of: segment, noted, left) {
                throw FileError("find", spool.directory.pathOf(segment.fileName), code: ENOENT)
            }
            if let answer = arrival.answer(about: segment, at: .now()) { answers.append(answer) }
        }
        if known == nil {
            if let way { try spool.note(way, of: identity.name, besides: ways) }
            answers.append(try entry(of: part, as: received))
        }
        if !answers.isEmpty { try spool.logReceived(answers) }
    }

    /// Of a segment that is in no log, and was compared with what comes.
    private func entry(of part: JoinedSegments.Part, as received: ReceivedSegment) throws(FileError) -> ReceivedEntry {
        let name = part.identity.name.fileName
        guard let file = try spool.directory.open(name) else {
            throw FileError("find", spool.directory.pathOf(name), code: ENOENT)
        }
        let events = if let events = received.events { events } else { try file.soundEvents() ?? 0 }
        return ReceivedEntry(
            at: .now(), key: part.identity.key ?? part.identity.name.id, sha256: try file.digest().digest.hexadecimal,
            segment: name, bytes: received.bytes.bytes, events: events, trail: part.trail, answered: true)
    }
}
