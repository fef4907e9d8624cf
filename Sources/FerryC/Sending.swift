import FerryTrackerUpload

/// An uploader that runs in this process until it is stopped.
final class Sending: Sendable {
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
