import Dispatch
import Synchronization

/// Seals journals on other threads: several are compressed at a time, and they are published in the order they came in.
final class Sealer: Sendable {
    private let spool: Spool
    private let queue = DispatchQueue(label: "ferry.sealer", attributes: .concurrent)
    /// Two at a time: each may hold its whole text (``GzipWriter``). A faster writer waits, so that journals do not pile up.
    private let slots = DispatchSemaphore(value: 2)
    private let state = Mutex(State())

    private struct State {
        /// Entered until the newest journal's predecessor is published.
        var last: DispatchGroup?
        var failure: FileError?
        var published: [SegmentName] = []
    }

    init(spool: Spool) { self.spool = spool }

    /// Hands over a journal. Waits while too many are under way.
    ///
    /// - Throws: What went wrong with an earlier one. Its journal stays and is sealed by the process that opens the spool next.
    func submit(_ journal: Journal, level: CompressionLevel) throws(FileError) {
        slots.wait()
        if let failure = state.withLock(\.failure) {
            slots.signal()
            throw failure
        }
        let turn = DispatchGroup()
        turn.enter()
        let predecessor = state.withLock { state in
            defer { state.last = turn }
            return state.last
        }
        queue.async { [self] in
            let result = seal(journal, level: level, after: predecessor)
            state.withLock { state in
                switch result {
                case .success(.published(let segment, _)): state.published.append(segment)
                case .success(.empty): break
                case .failure(let error): state.failure = state.failure ?? error
                }
            }
            turn.leave()
            slots.signal()
        }
    }

    private func seal(_ journal: Journal, level: CompressionLevel, after predecessor: DispatchGroup?) -> Result<
        SealedJournal, FileError
    > {
        do throws(FileError) {
            let compressed = try spool.journals.compress(journal, level: level)
            predecessor?.wait()
            return .success(try spool.journals.publish(compressed, of: journal))
        } catch {
            predecessor?.wait()
            return .failure(error)
        }
    }

    /// Waits until everything is published.
    ///
    /// - Returns: The segments, in order.
    func finish() throws(FileError) -> [SegmentName] {
        state.withLock(\.last)?.wait()
        let (failure, published) = state.withLock { ($0.failure, $0.published) }
        if let failure { throw failure }
        return published
    }
}
