import Dispatch
import FerrySpool
import Glibc
import Synchronization

/// Looks at folders by their paths, one after the other, on a thread that is given up when a file system does not answer, as a dead NFS
/// mount does: another thread goes on with the next folder.
final class FolderLooks: Sendable {
    typealias Look = @Sendable (String) -> Result<SpoolGlance, FileError>

    private let look: Look
    private let patience: Duration
    /// The folders that a thread hangs on. They are not looked at again before it is back.
    private let silent = Mutex<Set<FileName>>([])

    /// - Parameters:
    ///   - patience: How long one look may take. A disk that wakes up needs seconds.
    init(patience: Duration = .seconds(5), look: @escaping Look = FolderLooks.glance) {
        self.patience = patience
        self.look = look
    }

    static let glance: Look = { path in
        do throws(FileError) { return .success(try SpoolGlance(path)) } catch { return .failure(error) }
    }

    /// Looks at all folders. One that does not answer failed with `ETIMEDOUT`.
    func look(at paths: [String]) async -> [Result<SpoolGlance, FileError>] {
        var results: [Result<SpoolGlance, FileError>] = []
        while results.count < paths.count {
            let round = Round(Array(paths[results.count...]))
            DispatchQueue.global().async { self.run(round) }
            results += await finish(round)
        }
        return results
    }

    /// Looks at the folders of a round, on a thread that may hang.
    private func run(_ round: Round) {
        for path in round.paths {
            let result = silent.withLock { $0.contains(path) } ? Self.noAnswer(path) : look(path)
            guard round.add(result) else {
                silent.withLock { _ = $0.remove(path) }
                return
            }
        }
    }

    /// Waits until a round is over, or one look of it has taken too long: that one is the last result then.
    private func finish(_ round: Round) async -> [Result<SpoolGlance, FileError>] {
        var seen = -1
        while true {
            await round.waitForEnd(patience)
            let (results, isOver) = round.standing
            if isOver { return results }
            if results.count == seen {
                let path = round.paths[seen]
                silent.withLock { _ = $0.insert(path) }
                if round.giveUp(at: seen) { return results + [Self.noAnswer(path)] }
                silent.withLock { _ = $0.remove(path) }
            }
            seen = results.count
        }
    }

    private static func noAnswer(_ path: String) -> Result<SpoolGlance, FileError> {
        .failure(FileError("look at", path, code: ETIMEDOUT))
    }

    /// A series of looks by one thread.
    private final class Round: Sendable {
        let paths: [String]
        private let state = Mutex(State())

        private struct State {
            var results: [Result<SpoolGlance, FileError>] = []
            var isGivenUp = false
            var waiter: (number: Int, continuation: CheckedContinuation<Void, Never>)?
            var waits = 0
        }

        init(_ paths: [String]) { self.paths = paths }

        var standing: (results: [Result<SpoolGlance, FileError>], isOver: Bool) {
            state.withLock { ($0.results, $0.results.count == paths.count) }
        }

        /// Returns whether anything still waits for the results.
        func add(_ result: Result<SpoolGlance, FileError>) -> Bool {
            let (goesOn, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
                guard !state.isGivenUp else { return (false, nil) }
                state.results.append(result)
                guard state.results.count == paths.count else { return (true, nil) }
                defer { state.waiter = nil }
                return (true, state.waiter?.continuation)
            }
            waiter?.resume()
            return goesOn
        }

        /// Gives the thread up, if it has not come further.
        func giveUp(at count: Int) -> Bool {
            state.withLock { state in
                guard state.results.count == count else { return false }
                state.isGivenUp = true
                return true
            }
        }

        /// Waits for the last result, but no longer than so.
        func waitForEnd(_ limit: Duration) async {
            await withCheckedContinuation { continuation in
                let number = state.withLock { state -> Int? in
                    guard state.results.count < paths.count else { return nil }
                    state.waits += 1
                    state.waiter = (state.waits, continuation)
                    return state.waits
                }
                guard let number else { return continuation.resume() }
                DispatchQueue.global().asyncAfter(deadline: .now() + limit.inSeconds) { self.endWait(number) }
            }
        }

        private func endWait(_ number: Int) {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard let waiter = state.waiter, waiter.number == number else { return nil }
                state.waiter = nil
                return waiter.continuation
            }
            waiter?.resume()
        }
    }
}

/// Something of a file system that may not answer: it is let go by a thread that may hang.
final class Held<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: Value) { self.value = Mutex(value) }

    func letGo() { DispatchQueue.global().async { self.value.withLock { $0 = nil } } }
}
