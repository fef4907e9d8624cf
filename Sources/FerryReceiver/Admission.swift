import Crypto
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

    /// - Parameter key: `nil` for a request without one, which is always new.
    func admit(_ arrival: Arrival, _ entry: ReceivedEntry, key: String?, digest: BodyDigest) async throws(FileError)
        -> AdmissionResult
    {
        if let key {
            // Two requests with one key race: the second waits and finds the first one's result.
            while underWay.contains(key) { await withCheckedContinuation { waiters.append($0) } }
            if let known = index[key] { return known == digest ? .duplicate : .conflict }
            underWay.insert(key)
        }
        let result = await store(arrival, entry, digest)
        if let key {
            underWay.remove(key)
            if case .success(.stored) = result { index[key] = digest }
            if case .success(.duplicate) = result { index[key] = digest }
            let waiting = waiters
            waiters = []
            for waiter in waiting { waiter.resume() }
        }
        return try result.get()
    }

    private func store(
        _ arrival: Arrival, _ entry: ReceivedEntry, _ digest: BodyDigest
    ) async -> Result<AdmissionResult, FileError> {
        let spool = spool
        return await blocking { () -> Result<AdmissionResult, FileError> in
            do throws(FileError) {
                if try spool.admit(arrival, entry) { return .success(.stored) }
                // The segment came another way, by rsync say, with its name and so its key.
                guard try spool.directory.digest(of: entry.segment) == digest else { return .success(.conflict) }
                try spool.logReceived(entry)
                return .success(.duplicate)
            } catch {
                return .failure(error)
            }
        }
    }
}

extension Directory {
    fileprivate func digest(of name: String) throws(FileError) -> BodyDigest? {
        guard let file = try open(name) else { return nil }
        var hash = SHA256()
        var offset: Int64 = 0
        while true {
            let bytes = try file.readBytes(1 << 16, at: offset)
            if bytes.isEmpty { return BodyDigest(hash.finalize()) }
            hash.update(data: bytes)
            offset += Int64(bytes.count)
        }
    }
}

/// Runs file work that may take long on a thread that may block.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    do {
        return try await NIOThreadPool.singleton.runIfActive(body)
    } catch {
        preconditionFailure("the process-wide thread pool is never shut down: \(error)")
    }
}
