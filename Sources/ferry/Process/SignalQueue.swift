@preconcurrency import Dispatch
import FerrySpool
import Glibc
import Synchronization

/// The signals that a process gets, one after the other. What comes while nothing waits for it is kept.
final class SignalQueue: Sendable {
    private struct State {
        var pending: [Int32] = []
        var reader: CheckedContinuation<Int32?, Never>?
    }

    private let state = Mutex(State())
    private let source: any DispatchSourceRead

    /// - Parameter patience: How long what is under way may take after a signal that ends the process. A process that has not ended some seconds later is ended
    ///   all the same.
    init(_ numbers: [Int32], patience: Duration = Interruptible.patience) throws(CommandError) {
        let pipe = try SignalPipe(numbers)
        let lastResort = LastResort(patience)
        let ending = EarlySignals.ending(numbers)
        source = DispatchSource.makeReadSource(fileDescriptor: pipe.readEnd, queue: lastResort.queue)
        source.setEventHandler { [weak self] in
            for number in pipe.received() {
                if ending.contains(number) { lastResort.told() }
                self?.add(number)
            }
        }
        source.activate()
    }

    func add(_ number: Int32) {
        let reader = state.withLock { state in
            if state.reader == nil { state.pending.append(number) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: number)
    }

    /// Waits for the next signal; `nil` when the task is cancelled. One task at a time.
    func next() async -> Int32? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Int32?? = state.withLock { state in
                    if !state.pending.isEmpty { return state.pending.removeFirst() }
                    if Task.isCancelled { return .some(nil) }
                    state.reader = continuation
                    return .none
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}

/// Ends the process when it does not end by itself: a disk that hangs keeps threads for as long as it likes. That loses no more than
/// kill -9 does, which is nothing.
///
/// On a queue of its own: the threads of tasks may be what hangs.
private final class LastResort: Sendable {
    let queue = DispatchQueue(label: "ferry.signals")
    private let times = Mutex(0)
    private let patience: Duration

    init(_ patience: Duration) { self.patience = patience }

    /// After the first signal, what is under way has its time, and then as long as this for its end.
    private static let grace = 5

    /// Notes a signal that ends the process.
    func told() {
        let isFirst = times.withLock { times in
            times += 1
            return times == 1
        }
        let seconds = (isFirst ? Int(patience.components.seconds) : 0) + Self.grace
        queue.asyncAfter(deadline: .now() + .seconds(seconds)) {
            StandingLine.writeLast("ferry: error: a folder does not answer; what was under way stays pending\n")
            _exit(ExitStatus.localFailure.rawValue)
        }
    }
}
