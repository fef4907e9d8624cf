import FerrySpool
import NIOCore
import NIOPosix
import Synchronization

/// Runs the work that bodies make, inflating, checking and writing, on as many threads as there are cores; senders take turns.
///
/// The event loops and the tasks are free meanwhile: a client that asks only whether the receiver is well is answered at once, under any load.
/// A piece of work takes milliseconds. Where one takes much longer, its sender's disk stands still: another thread takes the place of the one that
/// waits there, and that sender's other work waits for it.
final class IntakeTurns: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var queue = TurnQueue<Work>()
        var underWay: [Int: PieceUnderWay] = [:]
        var begun = 0
        var threads = 0
        /// Whether a look at what takes too long is to come.
        var isWatched = false

        /// Returns whose work takes too long, once for each piece.
        func stuck(at now: ContinuousClock.Instant) -> [String] {
            underWay.values.lazy.filter { now - $0.since > IntakeTurns.patience }.map(\.sender)
        }
    }

    private struct PieceUnderWay {
        let sender: String
        let since: ContinuousClock.Instant
    }

    private let state = Mutex(State())
    private let width: Int

    private static let patience = Duration.milliseconds(200)
    private static let mostSpare = 30

    /// Threads of its own, for all receivers of a process: on those that force files to the disk it would keep every sender waiting that is done with
    /// it.
    private static let threads = {
        let threads = NIOThreadPool(numberOfThreads: System.coreCount + mostSpare)
        threads.start()
        return threads
    }()

    /// Creates turns in which no work waits.
    ///
    /// - Parameter width: How many pieces of work run at once.
    init(width: Int = System.coreCount) { self.width = width }

    /// Runs a piece of work when its sender's turn comes. Once begun it is done even if the task is cancelled.
    ///
    /// - Returns: `nil` when the task was cancelled before.
    func run<Value: Sendable>(for sender: String, _ work: @escaping @Sendable () -> Value) async -> Value? {
        let cancelled = Cancelled()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.queue.append({ continuation.resume(returning: cancelled.isSo ? nil : work()) }, for: sender) }
                addThreads()
            }
        } onCancel: {
            cancelled.note()
        }
    }

    /// Gives what waits as many threads as there may be.
    private func addThreads() {
        let now = ContinuousClock.now
        let (new, isToBeWatched) = state.withLock { state in
            guard !state.queue.isEmpty else { return (0, false) }
            let stuck = state.stuck(at: now)
            let most = width + min(stuck.count, Self.mostSpare)
            let new = max(0, min(most - state.threads, state.queue.owners(besides: Set(stuck))))
            state.threads += new
            // Those that are given a thread may hold it as well: as long as work waits, another look is to come.
            defer { state.isWatched = true }
            return (new, !state.isWatched)
        }
        for _ in 0..<new { Self.threads.submit { [self] _ in workOff() } }
        guard isToBeWatched else { return }
        _ = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .milliseconds(Self.patience.wholeMilliseconds)) {
            [self] in
            state.withLock { $0.isWatched = false }
            addThreads()
        }
    }

    private func workOff() {
        var ended: Int?
        while let (id, work) = begin(after: ended) {
            work()
            ended = id
        }
    }

    /// Takes the next piece of work; `nil` when there is none, or other threads do it.
    private func begin(after ended: Int?) -> (id: Int, work: Work)? {
        let now = ContinuousClock.now
        return state.withLock { state in
            if let ended { state.underWay[ended] = nil }
            let stuck = state.stuck(at: now)
            guard state.threads <= width + min(stuck.count, Self.mostSpare),
                let (sender, work) = state.queue.next(besides: stuck.isEmpty ? [] : Set(stuck))
            else {
                state.threads -= 1
                return nil
            }
            state.begun += 1
            state.underWay[state.begun] = PieceUnderWay(sender: sender, since: now)
            return (state.begun, work)
        }
    }
}

/// Whether a task was cancelled, for work on another thread.
private final class Cancelled: Sendable {
    private let flag = Atomic(false)

    var isSo: Bool { flag.load(ordering: .relaxed) }

    func note() { flag.store(true, ordering: .relaxed) }
}
