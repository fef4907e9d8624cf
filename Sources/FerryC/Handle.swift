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
            throw InvalidArgumentError(description: "the tracker sends already: ferry_stop_sending first")
        }
        guard SendingProcess.claim() else { throw SendingForkError() }
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
            throw InvalidArgumentError(
                description: "what sends waits for this callback to return: dispatch elsewhere, or ferry_flush")
        }
        guard let delivery = sending.withLock({ $0?.delivery }) else {
            throw InvalidArgumentError(description: "nothing says where to send: ferry_start_sending first")
        }
        return waiting { if let deadline { await delivery.flush(deadline: deadline) } else { await delivery.flush() } }
    }
}
