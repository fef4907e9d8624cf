import FerrySpool
import Synchronization

/// A spool that is open while it is used and closed when it has been idle: an open folder keeps its file system from being unmounted.
final class SpoolLease: Sendable {
    let path: String
    private let state: Mutex<State>

    private struct State {
        var holding: Holding
        var usedAt: ContinuousClock.Instant
    }

    private enum Holding {
        case open(Spool)
        case closed(Spool.Identity)
    }

    init(_ spool: Spool) {
        path = spool.path
        state = Mutex(State(holding: .open(spool), usedAt: .now))
    }

    /// Returns the spool, opened again if need be.
    ///
    /// - Throws: `FileError` when the folder has gone, or another one lies in its place.
    func spool() throws(FileError) -> Spool {
        let result: Result<Spool, FileError> = state.withLock { state in
            state.usedAt = .now
            switch state.holding {
            case .open(let spool): return .success(spool)
            case .closed(let identity):
                do throws(FileError) {
                    let spool = try Spool.reopen(path, identity)
                    state.holding = .open(spool)
                    return .success(spool)
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }

    /// When the spool was last asked for; `nil` while it is closed.
    var usedAt: ContinuousClock.Instant? {
        state.withLock { state in
            if case .open = state.holding { state.usedAt } else { nil }
        }
    }

    /// The spool, if it is open.
    var openSpool: Spool? {
        state.withLock { state in
            if case .open(let spool) = state.holding { spool } else { nil }
        }
    }

    /// Closes the spool until it is asked for again. Who is just using it keeps it open for that long.
    func close() {
        state.withLock { state in
            guard case .open(let spool) = state.holding, let identity = try? spool.folderIdentity() else { return }
            state.holding = .closed(identity)
        }
    }
}
