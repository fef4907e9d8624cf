import CForks
import Dispatch
import FerryTracker
import FerryTrackerUpload
import FerryUpload
import Synchronization

/// What a `ferry_tracker *` stands for: a tracker, and what sends for it in this process. The pointer holds a reference.
final class Handle: Sendable {
    let tracker: EventTracker
    private let sending = Mutex<Sending?>(nil)

    init(_ tracker: EventTracker) { self.tracker = tracker }

    /// Reads a handle without taking a reference: a fork's child must not count any.
    static func isForked(_ pointer: OpaquePointer) -> Bool {
        Unmanaged<Handle>.fromOpaque(UnsafeRawPointer(pointer))._withUnsafeGuaranteedRef { $0.tracker.isForked }
    }

    /// Begins to send.
    func startSending(_ options: UploadOptions) throws {
        guard sending.withLock({ $0 == nil }) else {
            throw InvalidArgument(description: "the tracker sends already: ferry_stop_sending first")
        }
        guard SendingProcess.claim() else { throw SendingFork() }
        let begun = Sending(try TrackerDelivery(tracker, options))
        let isFirst = sending.withLock { current in
            if current != nil { return false }
            current = begun
            return true
        }
        if !isFirst { begun.stop() }
    }

    /// Finishes what is under way, and waits for it, unless that waits for the caller. Does nothing where nothing is sent.
    func stopSending() {
        let current = sending.withLock { current in
            defer { current = nil }
            return current
        }
        current?.stop()
    }

    /// Sends everything that is stored.
    ///
    /// - Parameter deadline: `nil`: without an end.
    func dispatch(deadline: Duration?) throws -> FlushResult {
        guard !Callbacks.isWarning else {
            throw InvalidArgument(description: "what sends waits for this callback to return: dispatch elsewhere, or ferry_flush")
        }
        guard let delivery = sending.withLock({ $0?.delivery }) else {
            throw InvalidArgument(description: "nothing says where to send: ferry_start_sending first")
        }
        return waiting { if let deadline { await delivery.flush(deadline: deadline) } else { await delivery.flush() } }
    }
}

/// Which process sends. The threads that requests and tasks run on begin with the first sending, and are never there in a fork's child: it
/// would wait for them for ever.
private enum SendingProcess {
    private static let none = -1
    /// By the count of forks.
    private static let first = Atomic(none)

    /// Returns whether this process can send: no process that it was forked from has.
    static func claim() -> Bool {
        let forks = Int(ferry_fork_count())
        let (isFirst, sender) = first.compareExchange(expected: none, desired: forks, ordering: .acquiringAndReleasing)
        return isFirst || sender == forks
    }
}

/// The process was forked from one that has sent.
struct SendingFork: Error, CustomStringConvertible {
    let description =
        "the process was forked from one that has sent, so it cannot send: let the parent send, or ferry run, or fork before anything is sent"
}

/// An uploader that runs in this process until it is stopped.
private final class Sending: Sendable {
    let delivery: TrackerDelivery
    private let run: Task<Void, Never>

    init(_ delivery: TrackerDelivery) {
        self.delivery = delivery
        run = Task { await delivery.run() }
    }

    func stop() {
        delivery.stop()
        if Callbacks.isWarning { return }
        waiting { [run] in await run.value }
    }
}

/// Waits on the caller's thread, which is C's and none of the language's pool, for a task.
private func waiting<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
    let answer = Answer<Result>()
    Task {
        let result = await body()
        answer.give(result)
    }
    return answer.take()
}

/// A value that one thread waits for and another one gives.
private final class Answer<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func give(_ value: Value) {
        self.value.withLock { $0 = value }
        isThere.signal()
    }

    func take() -> Value {
        while true {
            if let value = value.withLock(\.self) { return value }
            let hasRested = ferry_rest()
            isThere.wait()
            ferry_end_rest(hasRested)
        }
    }
}
