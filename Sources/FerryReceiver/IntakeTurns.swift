import NIOCore
import NIOPosix
import Synchronization

/// Runs the work that bodies make, inflating, checking and writing, on as many threads as there are cores; senders take turns.
///
/// The event loops and the tasks are free meanwhile: who asks only whether the receiver is well is answered at once, whatever comes in.
final class IntakeTurns: Sendable {
    private typealias Work = @Sendable () -> Void

    private struct State {
        var queue = TurnQueue<Work>()
        var running = 0
    }

    private let state = Mutex(State())
    private let width: Int

    /// Threads of its own, for all receivers of a process: on those that force files to the disk it would keep everybody waiting who is done with it.
    private static let threads = {
        let threads = NIOThreadPool(numberOfThreads: System.coreCount)
        threads.start()
        return threads
    }()

    /// - Parameter width: How many pieces of work run at once.
    init(width: Int = System.coreCount) { self.width = width }

    /// Runs a piece of work when its sender's turn comes. Once begun it is done even if the task is cancelled.
    ///
    /// - Returns: `nil` when the task was cancelled before.
    func run<Value: Sendable>(for sender: String, _ work: @escaping @Sendable () -> Value) async -> Value? {
        let cancelled = Cancelled()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isToBegin = state.withLock { state in
                    state.queue.append({ continuation.resume(returning: cancelled.isSo ? nil : work()) }, for: sender)
                    guard state.running < width else { return false }
                    state.running += 1
                    return true
                }
                if isToBegin { Self.threads.submit { [self] _ in workOff() } }
            }
        } onCancel: {
            cancelled.note()
        }
    }

    private func workOff() {
        func next() -> Work? {
            state.withLock { state in
                let work = state.queue.next()
                if work == nil { state.running -= 1 }
                return work
            }
        }
        while let work = next() { work() }
    }
}

/// Whether a task was cancelled, for work on another thread.
private final class Cancelled: Sendable {
    private let flag = Atomic(false)

    var isSo: Bool { flag.load(ordering: .relaxed) }

    func note() { flag.store(true, ordering: .relaxed) }
}

/// Items of several owners, who take turns: one that has many waits no longer for its next than one that has few.
struct TurnQueue<Item> {
    private var items: [String: [Item].SubSequence] = [:]
    /// Those that have items, in the order of their turns.
    private var owners: ArraySlice<String> = []

    mutating func append(_ item: Item, for owner: String) {
        if items[owner, default: []].isEmpty { owners.append(owner) }
        items[owner, default: []].append(item)
    }

    /// Takes out the next item of who has waited longest.
    mutating func next() -> Item? {
        guard let owner = owners.popFirst(), let item = items[owner]?.popFirst() else { return nil }
        if items[owner]?.isEmpty ?? true { items[owner] = nil } else { owners.append(owner) }
        return item
    }
}
