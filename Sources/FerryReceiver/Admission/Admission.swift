import FerryIntake
import FerrySpool
import Glibc

/// Decides, one at a time for each key, whether a body is new, and makes it a segment.
actor Admission {
    private let spool: Spool
    nonisolated let recognition: Recognition
    private let committer: Committer
    /// For looks at what came another way, which may take long, or wait for what other processes hold.
    private let looks = Turnstile(width: 1)
    /// For what is forced to the disk, which takes many at once at little more than the cost of one.
    private let forces = Turnstile(width: 6)
    /// For reading what other processes have logged, which forces it to the disk.
    private nonisolated let follows = Turnstile(width: 2)
    /// For notes beside answers, which wait for that alone.
    nonisolated let notes = Turnstile(width: 4)
    nonisolated let discards: Discards
    private var underWay = KeysUnderWay()
    private var waiters: [CheckedContinuation<Void, Never>] = []

    private nonisolated let gathering: GatherRules?
    /// What is being gathered, and pending nowhere yet.
    nonisolated var gathered: ByteCount { committer.amount.bytes }

    private let patience: Duration

    /// Creates the admission to a spool.
    ///
    /// - Parameter patience: So long requests wait for the turn of other processes to log.
    init(
        _ spool: Spool, _ ids: FolderIDs?, gathering: GatherRules? = nil, patience: Duration = OpenFile.patience
    ) throws(FileError) {
        self.spool = spool
        discards = Discards(spool)
        self.patience = patience
        self.gathering = gathering
        recognition = try Recognition(spool, ids)
        committer = Committer(spool, recognition, gathering: gathering)
    }

    /// Makes pending what was gathered for long enough, or all of it.
    nonisolated func publishGathered(all: Bool) async {
        if all || gathered > .zero { await committer.publishGathered(all: all) }
    }

    /// Returns the parts of a request with what came under their keys before; `nil` unless all are known and vouched for.
    ///
    /// - Throws: `FileError` when it cannot be noted which way a segment comes that is here: it might go back on it.
    /// - Parameter looksAround: Whether to look also for what other processes have logged meanwhile, and for segments that came another
    ///   way, by rsync say: reads them whole.
    func known(
        _ parts: [JoinedSegments.Part], from sender: String?, looksAround: Bool
    ) async throws(FileError) -> [KnownBody.Part]? {
        if looksAround, try !recognition.areVouchedFor(parts, from: sender) {
            try await followOthers()
        }
        var known: [KnownBody.Part] = []
        for part in parts {
            var before = try recognition.vouchedFor(part, from: sender)
            // A look at the whole folder, on threads that others need, too.
            if before == nil, looksAround, sender != nil, part.identity.key != nil, recognition.mayBeHere(part.identity.name) {
                let looked = await looks.run { [spool, recognition] in
                    Result { () throws(FileError) in
                        // What it is a half of may leave before there is room: it is known then by its line alone.
                        _ = try recognition.adoptKin(of: part.identity.name)
                        return try Self.cameAnotherWay(part, from: sender, to: spool, recognition.ways)
                    }
                }
                before = try looked.get()
            }
            guard let before else { return nil }
            known.append(KnownBody.Part(part: part, before: before))
        }
        return known
    }

    /// Learns what other processes have logged. Where one keeps its turn, no thread waits for it: they are all machines'. What cannot be read is not
    /// known.
    ///
    /// - Throws: `FileError` where the turn cannot be had.
    private nonisolated func followOthers() async throws(FileError) {
        let end = ContinuousClock.now + patience
        while true {
            let failure = await follows.run { [spool, recognition] () -> FileError? in
                do throws(FileError) {
                    try spool.received.follow(recognition.keys.log, at: .now(), within: .zero)
                    return nil
                } catch {
                    return error
                }
            }
            guard let failure, failure.code == ETIMEDOUT else { return }
            if ContinuousClock.now >= end || Task.isCancelled { throw failure }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func cameAnotherWay(
        _ part: JoinedSegments.Part, from sender: String?, to spool: Spool, _ ways: Ways
    ) throws(FileError) -> KnownKey? {
        let name = part.identity.name.fileName
        try spool.wayNotes.note(part.trail.adding(sender), of: part.identity.name, besides: ways)
        // It may be on its way to the sender at this moment.
        guard (try? spool.exports.isLeaving(name)) == false else { return nil }
        guard let file = try? spool.directory.open(name), (try? file.soundEvents()) != nil, let digest = try? file.digest().digest
        else { return nil }
        try file.sync()
        try spool.directory.sync()
        return .came(digest)
    }

    /// Admits what is new, and removes what is not. No two candidates have one key.
    ///
    /// - Parameter vouchesForNames: A segment that came another way, by rsync say, counts as received. Only where the sender is known to be
    ///   another spool than this one: what it sends may be the very file that lies here.
    func admit(_ candidates: [AdmissionCandidate], vouchesForNames: Bool) async throws(FileError) -> [AdmissionResult] {
        // Requests with one key race: the second waits and finds the first one's result, as a half waits for its whole. All keys at once, or
        // two would wait for each other.
        let keys = Set(candidates.compactMap(\.identity.key).flatMap { ReceivedID.keys(like: $0) })
        if candidates.count > 1, keys.contains(where: { SegmentID.ancestors(of: $0).contains { keys.contains($0.text) } }) {
            return try await admitOneByOne(candidates, vouchesForNames: vouchesForNames)
        }
        let wholes = Set(keys.flatMap { SegmentID.ancestors(of: $0).map(\.text) })
        while underWay.hasKin(of: keys, wholes) { await withCheckedContinuation { waiters.append($0) } }
        var results: [AdmissionResult?]
        do throws(FileError) {
            results = try candidates.map { (candidate) throws(FileError) in try recognition.result(withoutLook: candidate) }
        } catch {
            discards.add(candidates.map(\.arrival))
            throw error
        }
        let new = candidates.indices.filter { results[$0] == nil }
        discards.add(candidates.indices.lazy.filter { results[$0] != nil }.map { candidates[$0].arrival })
        underWay.begin(keys, wholes)
        defer { end(keys, wholes) }
        let stored = try await store(new.map { candidates[$0] }, vouchesForNames)
        for (position, result) in zip(new, stored) { results[position] = result }
        // Each had a result from the index, or has got one from being stored.
        return results.map { $0 ?? .conflict }
    }

    private func end(_ keys: Set<String>, _ wholes: Set<String>) {
        underWay.end(keys, wholes)
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
    }

    /// Admits a whole and halves of it one by one: each is judged by what came before it.
    private func admitOneByOne(
        _ candidates: [AdmissionCandidate], vouchesForNames: Bool
    ) async throws(FileError) -> [AdmissionResult] {
        var results: [AdmissionResult] = []
        for candidate in candidates {
            do throws(FileError) {
                results += try await admit([candidate], vouchesForNames: vouchesForNames)
            } catch {
                discards.add(candidates.dropFirst(results.count + 1).map(\.arrival))
                throw error
            }
        }
        return results
    }

    /// Others wait for the files of a request to be forced up to this size, which takes about as long as what they wait for together.
    private static let mostWaitedFor = ByteCount.kibibytes(256)

    private func store(
        _ candidates: [AdmissionCandidate], _ vouchesForNames: Bool
    ) async throws(FileError) -> [AdmissionResult] {
        guard !candidates.isEmpty else { return [] }
        let candidates = candidates.map(judged)
        // However large what lies here is.
        if vouchesForNames, candidates.contains(where: { recognition.mayBeHere($0.identity.name) }) {
            do throws(FileError) { try await followOthers() } catch {
                discards.add(candidates.map(\.arrival))
                throw error
            }
            let areJudgeable = await looks.run { [spool, recognition] in
                Result { () throws(FileError) in try Self.adoptKin(of: candidates, in: spool, recognition) }
            }
            guard try areJudgeable.get() else { return candidates.map { _ in .unsoundThere } }
        }
        let size = candidates.reduce(.zero) { $0 + ByteCount($1.entry.bytes) }
        let approach = size <= Self.mostWaitedFor ? await committer.approach() : nil
        let forced = await forces.run { [spool] in Result { () throws(FileError) in try Self.force(candidates, in: spool) } }
        if case .failure(let error) = forced {
            if let approach { await committer.end(approach) }
            throw error
        }
        let commitments = try await committer.commit(candidates, ending: approach).get()
        var results: [AdmissionResult] = []
        for (candidate, commitment) in zip(candidates, commitments) {
            switch commitment {
            case .known(let result): results.append(result)
            case .admitted(.stored): results.append(.stored)
            case .admitted(.left(let error)): results.append(.left(error))
            case .admitted(.known): results.append(.conflict)
            case .admitted(.nameTaken):
                try await followOthers()
                let taken = await looks.run { [spool, recognition] in
                    Result { () throws(FileError) in try Self.takeOver(candidate, in: spool, recognition, vouchesForNames) }
                }
                results.append(try taken.get())
            }
        }
        return results
    }

    /// Decides whether a segment is to be gathered. One whose name a pending file has is compared with that.
    private func judged(_ candidate: AdmissionCandidate) -> AdmissionCandidate {
        guard let gathering, (try? spool.directory.contains(candidate.entry.segment)) == false else { return candidate }
        var judged = candidate
        // What follows one whose last line has no end would go on in that.
        judged.isToBeGathered =
            candidate.body.endsLine && candidate.entry.events > 0
            && gathering.takes(
                ByteCount(candidate.entry.bytes), inflated: candidate.body.inflated,
                SegmentName(candidate.entry.segment)?.priority ?? .normal,
                hasClockReading: candidate.arrival.file.clockReading != nil)
        return judged
    }

    /// Makes known what is here of the candidates, and came another way.
    ///
    /// - Returns: `false` when a copy of one of them is just coming, and cannot be judged yet; then, and with an error, they are removed.
    private static func adoptKin(
        of candidates: [AdmissionCandidate], in spool: Spool, _ recognition: Recognition
    ) throws(FileError) -> Bool {
        var isKept = false
        defer { if !isKept { for candidate in candidates { spool.arrivals.discard(candidate.arrival) } } }
        for candidate in candidates where try !recognition.adoptKin(of: candidate.identity.name) { return false }
        isKept = true
        return true
    }

    /// Forces the candidates' files to the disk, of those that are not gathered. With an error they are removed.
    private static func force(_ candidates: [AdmissionCandidate], in spool: Spool) throws(FileError) {
        var isKept = false
        defer { if !isKept { for candidate in candidates { spool.arrivals.discard(candidate.arrival) } } }
        for candidate in candidates where !candidate.isToBeGathered { try candidate.arrival.file.sync() }
        isKept = true
    }

    /// Returns what a candidate is whose name a pending file has: one that came another way, by rsync say, or that came before and comes again.
    private static func takeOver(
        _ candidate: AdmissionCandidate, in spool: Spool, _ recognition: Recognition, _ vouchesForNames: Bool
    ) throws(FileError) -> AdmissionResult {
        let name = candidate.entry.segment
        guard let file = try spool.directory.openIfFile(name) else { return .unsoundThere }
        guard try file.digest().digest == candidate.body.digest else {
            return try file.soundEvents() == nil ? .unsoundThere : .conflict
        }
        if !vouchesForNames, try !recognition.isKnown(candidate) {
            // Another process may have received it, and logged it a moment ago.
            try spool.received.follow(recognition.keys.log, at: .now())
            if try !recognition.isKnown(candidate) { return .notReceived }
        }
        if let result = try recognition.result(candidate) { return result }
        // It got its name a moment ago.
        return try spool.arrivals.canAnswer(for: file, named: name, whichCame: candidate.way, besides: recognition.ways)
            ? .duplicate : .leaving
    }
}
