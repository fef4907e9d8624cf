import FerryIntake
import FerrySpool
import NIOPosix

/// What became of a body that is complete and sound.
enum AdmissionResult: Equatable, Sendable {
    case stored
    /// The key is known, with the same bytes.
    case duplicate
    /// The key is known, with other bytes.
    case conflict
    /// The bytes are here under its name, but never came over this receiver.
    case notReceived
    /// It is logged and kept, and could not get its name yet.
    case left(FileError)
}

/// Decides, one at a time for each key, whether a body is new, and makes it a segment.
actor Admission {
    private let spool: Spool
    private let keys: ReceivedKeys
    private var underWay: Set<String> = []
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ spool: Spool) throws(FileError) {
        self.spool = spool
        keys = try ReceivedKeys(spool)
    }

    /// A body that is complete and sound.
    struct Candidate: Sendable {
        let arrival: Arrival
        let entry: ReceivedEntry
        /// `nil` for a request without one, which is always new.
        let key: String?
        let digest: BodyDigest

        fileprivate var name: SegmentName? { SegmentName(entry.segment) }

        /// - Parameter known: What is known of the key.
        fileprivate func result(of known: KnownKey) -> AdmissionResult { known.agrees(with: digest) ? .duplicate : .conflict }
    }

    /// The parts of a request with what came under their keys before; `nil` unless all are known.
    ///
    /// - Parameter looksAround: Whether to look also for what other processes have logged meanwhile, and for segments that came another
    ///   way, by rsync say: reads them whole.
    /// - Parameter vouchesForNames: As for ``admit(_:vouchesForNames:)``.
    func known(_ parts: [JoinedSegments.Part], looksAround: Bool, vouchesForNames: Bool) async -> [KnownBody.Part]? {
        if looksAround, parts.contains(where: { keys.known($0.identity.key, segment: $0.identity.name) == nil }) {
            // What cannot be read is not known.
            await blocking { [spool, keys] in try? spool.follow(keys.log, at: .now()) }
        }
        var known: [KnownBody.Part] = []
        for part in parts {
            var before = keys.known(part.identity.key, segment: part.identity.name)
            if before == nil, looksAround, vouchesForNames, part.identity.key != nil {
                before = await blocking { [spool] in
                    let digest = (try? spool.directory.open(part.identity.name.fileName)?.digest().digest) ?? nil
                    return digest.map(KnownKey.came)
                }
            }
            guard let before else { return nil }
            known.append(KnownBody.Part(part: part, before: before))
        }
        return known
    }

    /// Admits what is new, and removes what is not. No two candidates have one key.
    ///
    /// - Parameter vouchesForNames: A segment that came another way, by rsync say, counts as received. Only where the sender is known to be
    ///   another spool than this one: what it sends may be the very file that lies here.
    func admit(_ candidates: [Candidate], vouchesForNames: Bool) async throws(FileError) -> [AdmissionResult] {
        let keys = Set(candidates.compactMap(\.key))
        // Requests with one key race: the second waits and finds the first one's result, as a half waits for its whole. All keys at once, or
        // two would wait for each other.
        let awaited = keys.union(keys.flatMap { SegmentID.ancestors(of: $0).map(\.text) })
        while !underWay.isDisjoint(with: awaited) { await withCheckedContinuation { waiters.append($0) } }
        var results = candidates.map { candidate in
            self.keys.known(candidate.key, segment: candidate.name).map { candidate.result(of: $0) }
        }
        let new = candidates.indices.filter { results[$0] == nil }
        for index in candidates.indices where results[index] != nil { spool.discard(candidates[index].arrival) }
        underWay.formUnion(keys)
        let stored = await store(new.map { candidates[$0] }, vouchesForNames)
        underWay.subtract(keys)
        if case .success(let stored) = stored {
            for (position, result) in zip(new, stored) {
                results[position] = result
                guard candidates[position].key != nil, result == .stored || result == .duplicate else { continue }
                self.keys.add(candidates[position].entry)
            }
        }
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
        _ = try stored.get()
        // Each had a result from the index, or has got one from being stored.
        return results.map { $0 ?? .conflict }
    }

    private func store(_ candidates: [Candidate], _ vouchesForNames: Bool) async -> Result<[AdmissionResult], FileError> {
        guard !candidates.isEmpty else { return .success([]) }
        let (spool, keys) = (spool, keys)
        return await blocking { () -> Result<[AdmissionResult], FileError> in
            do throws(FileError) {
                var results: [AdmissionResult] = []
                let admitted = try spool.admit(candidates.map { ($0.arrival, $0.entry) }, following: keys.log) { entry in
                    keys.known(entry.key, segment: SegmentName(entry.segment)) != nil
                }
                for (candidate, admitted) in zip(candidates, admitted) {
                    switch admitted {
                    case .stored: results.append(.stored)
                    case .left(let error): results.append(.left(error))
                    case .nameTaken where try spool.directory.open(candidate.entry.segment)?.digest().digest == candidate.digest:
                        guard vouchesForNames else {
                            results.append(.notReceived)
                            continue
                        }
                        // The segment came another way, by rsync say, with its name and so its key.
                        try spool.logReceived([candidate.entry])
                        results.append(.duplicate)
                    case .known:
                        let before = keys.known(candidate.entry.key, segment: candidate.name)
                        results.append(before.map { candidate.result(of: $0) } ?? .conflict)
                    case .nameTaken: results.append(.conflict)
                    }
                }
                return .success(results)
            } catch {
                return .failure(error)
            }
        }
    }
}

/// Runs file work that may take long on a thread that may block. It is done even if the task is cancelled: half-done books are worse than
/// a late end.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        NIOThreadPool.singleton.submit { _ in continuation.resume(returning: body()) }
    }
}
