import FerrySpool
import FerryUpload
import Glibc
import Synchronization

/// Shows an upload as it goes: one changing line on a terminal, plain lines for what is unusual.
final class Progress: Sendable {
    private let isTerminal: Bool
    private let log: Log
    private let state = Mutex(State())
    private let start = ContinuousClock.now

    private struct State {
        var segments = 0
        var bytes = ByteCount.zero
        var lastShown: ContinuousClock.Instant?
    }

    init(isShown: Bool, log: Log) {
        isTerminal = isShown && isatty(2) != 0
        self.log = log
    }

    func show(_ event: UploadEvent) {
        switch event {
        case .sent(let entry): count(entry)
        case .rejected(let entry): log.warn("\(entry.segment) is rejected: \(entry.detail ?? "")")
        case .split(let entry): log.note("\(entry.segment) is split: \(entry.detail ?? "")")
        case .backsOff(let segment, let until, let reason):
            log.note("\(segment) failed (\(reason.message)), not to be tried before \(until.rfc3339)")
        case .warning(let text): log.warn(text)
        }
    }

    private func count(_ entry: LedgerEntry) {
        state.withLock { state in
            state.segments += 1
            state.bytes += entry.bytes
            guard isTerminal else { return }
            let now = ContinuousClock.now
            // Ten times a second is as fast as one can read.
            if let last = state.lastShown, now - last < .milliseconds(100) { return }
            state.lastShown = now
            let rate = ByteCount(Int64(min(Double(state.bytes.bytes) / max((now - start).inSeconds, 0.001), 9e18)))
            StandardError.write("\r\u{1b}[Ksent \(counted(state.segments, "segment")), \(state.bytes), \(rate)/s")
        }
    }

    /// Clears the line for what follows.
    func end() {
        if isTerminal { StandardError.write("\r\u{1b}[K") }
    }
}
