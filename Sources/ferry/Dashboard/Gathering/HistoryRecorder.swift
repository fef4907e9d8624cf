import FerrySpool
import Glibc

/// Notes every minute how each spool stands.
actor HistoryRecorder {
    /// What is noted of a spool.
    struct Reading: Sendable {
        let path: String
        /// When the oldest pending segment was opened; `nil`: nothing is pending.
        let oldest: Timestamp?
        /// What came or was sent since the process began.
        let bytes: ByteCount
    }

    private let readings: @Sendable () -> [Reading]
    private let log: Log
    private var clock = HistoryClock()
    /// At the last minute, by path.
    private var bytes: [String: ByteCount] = [:]
    private var hasFailed = false

    /// - Parameter readings: Asked once a minute, on a thread that may wait. Of a spool that is not there it has none.
    init(log: Log, _ readings: @escaping @Sendable () -> [Reading]) {
        self.readings = readings
        self.log = log
    }

    /// Notes until the task is cancelled, at the end of each minute.
    func run() async {
        while !Task.isCancelled {
            let inMinute = Timestamp.now().milliseconds % 60_000
            try? await Task.sleep(for: .milliseconds(max(1000, 59_000 - (inMinute + 60_000) % 60_000)))
            if Task.isCancelled { return }
            await step()
            // Into the next minute.
            try? await Task.sleep(for: .seconds(2))
        }
    }

    private func step() async {
        let now = Timestamp.now()
        guard let minute = clock.minute(now, .now) else { return }
        let before = bytes
        let result = await abandonable { [readings] in
            let found = readings()
            var failure: FileError?
            for reading in found {
                let moved = reading.bytes - (before[reading.path] ?? .zero)
                let step = HistoryStep(oldest: reading.oldest.map { now - $0 }, bytes: max(moved, .zero))
                do throws(FileError) {
                    let spool = try Spool.open(reading.path, access: .read)
                    // One that no Ferry has written into yet has no place for it.
                    if spool.stateDirectory != nil { try spool.history.note(step, at: minute) }
                } catch {
                    failure = failure ?? error
                }
            }
            return (found, failure)
        }
        guard let (found, failure) = result else { return }
        bytes = Dictionary(found.map { ($0.path, $0.bytes) }) { first, _ in first }
        if let failure, !hasFailed { log.warn("the page's history is not noted: \(failure)") }
        hasFailed = failure != nil
    }
}
