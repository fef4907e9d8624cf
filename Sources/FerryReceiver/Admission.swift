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
}

/// Decides, one at a time for each key, whether a body is new, and makes it a segment.
actor Admission {
    private let spool: Spool
    private var index: KeyIndex
    private var underWay: Set<String> = []
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ spool: Spool) throws(FileError) {
        self.spool = spool
        index = try KeyIndex(spool)
    }

    /// A body that is complete and sound.
    struct Candidate: Sendable {
        let arrival: Arrival
        let entry: ReceivedEntry
        /// `nil` for a request without one, which is always new.
        let key: String?
        let digest: BodyDigest
    }

    /// Admits what is new. No two candidates have one key.
    func admit(_ candidates: [Candidate]) async throws(FileError) -> [AdmissionResult] {
        let keys = Set(candidates.compactMap(\.key))
        // Requests with one key race: the second waits and finds the first one's result. All keys at once, or two would wait for
        // each other.
        while !underWay.isDisjoint(with: keys) { await withCheckedContinuation { waiters.append($0) } }
        var results = candidates.map { candidate in
            candidate.key.flatMap { index[$0] }.map { $0 == candidate.digest ? AdmissionResult.duplicate : .conflict }
        }
        let new = candidates.indices.filter { results[$0] == nil }
        underWay.formUnion(keys)
        let stored = await store(new.map { candidates[$0] })
        underWay.subtract(keys)
        if case .success(let stored) = stored {
            for (position, result) in zip(new, stored) {
                results[position] = result
                if let key = candidates[position].key, result != .conflict { index[key] = candidates[position].digest }
            }
        }
        let waiting = waiters
        waiters = []
        for waiter in waiting { waiter.resume() }
        _ = try stored.get()
        return results.map { $0! }
    }

    private func store(_ candidates: [Candidate]) async -> Result<[AdmissionResult], FileError> {
        guard !candidates.isEmpty else { return .success([]) }
        let spool = spool
        return await blocking { () -> Result<[AdmissionResult], FileError> in
            do throws(FileError) {
                var results: [AdmissionResult] = []
                let isStored = try spool.admit(candidates.map { ($0.arrival, $0.entry) })
                for (candidate, isStored) in zip(candidates, isStored) {
                    if isStored {
                        results.append(.stored)
                    } else if try spool.directory.open(candidate.entry.segment)?.digest().digest == candidate.digest {
                        // The segment came another way, by rsync say, with its name and so its key.
                        try spool.logReceived([candidate.entry])
                        results.append(.duplicate)
                    } else {
                        results.append(.conflict)
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
