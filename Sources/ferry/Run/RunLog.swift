import FerrySpool
import FerryUpload
import Synchronization

/// Tells what happens in a long run: what a person may want to know, and of segments that are well a line a minute at most.
final class RunLog: Sendable {
    private struct State {
        var delivered = DeliveredSummary()
        var outages = DestinationOutages()
        /// What was told of the lanes of a spool last, and when.
        var lanes: [String: (text: String, at: ContinuousClock.Instant)] = [:]

        /// Returns whether it is to be told why a segment is not in a lane: of the thousands that wait for the same, now and then of one.
        mutating func tells(_ reason: Verdict.Reason, of spool: String) -> Bool {
            guard reason.kind == RetryState.laneKind else { return true }
            let now = ContinuousClock.now
            if let last = lanes[spool], last.text == reason.message, now - last.at < RunLog.laneInterval { return false }
            lanes[spool] = (reason.message, now)
            return true
        }
    }

    private static let laneInterval = Duration.seconds(600)

    /// How often it is told what was delivered.
    private static let interval = Duration.seconds(60)

    private let log: Log
    private let state = Mutex(State())

    init(log: Log) { self.log = log }

    /// - Parameter destination: What the segments of the event's spool are sent to.
    func show(_ event: RunEvent, of destination: String) {
        switch event {
        case .upload(let spool, let event): show(event, spool, destination)
        case .blocked(let spool, let blocker):
            let line = state.withLock { $0.outages.blocked(spool, blocker, destination: destination, at: .now()) }
            if let line { show(line) }
        case .network(.usable(let interface)): log.note("the network is there" + (interface.map { ", by \($0)" } ?? ""))
        case .network(.noRoute): log.note("there is no route to the destination: nothing is tried")
        case .network(.denied(let interface)): log.note("the route is by \(interface), which is not allowed: nothing is tried")
        case .opened(let spool, let pending, let isBack):
            log.note("\(spool)\(isBack ? " is back" : ""): \(counted(pending, "segment")) pending", about: ["spool": spool])
        case .shared(let spool, let other):
            log.warn(
                "\(spool): process \(other.process) sends from it too, to \(other.destination); each segment is sent by one of the two",
                about: ["spool": spool])
        case .retention(let spool, let report):
            for (count, what) in [(report.expired, "expired by age"), (report.evicted, "evicted for room")]
            where count.segments > 0 {
                log.warn(
                    "\(spool): dropped \(counted(count.segments, "segment")) (\(count.bytes)), \(what)", about: ["spool": spool])
            }
        case .recovered(let spool, let recovery):
            let count = recovery.sealed.count + recovery.arrived.count
            log.note("\(spool): published \(counted(count, "segment")) that dead writers left", about: ["spool": spool])
        }
    }

    /// Tells what was delivered, a line a minute at most, until cancelled.
    func tellDeliveries() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            if !Task.isCancelled { tellDelivered() }
        }
    }

    /// Tells what was delivered since it was told last.
    func tellDelivered() {
        guard let (text, about) = state.withLock({ $0.delivered.take() }) else { return }
        log.note(text, about: about)
    }

    private func show(_ line: DestinationOutages.Line) {
        if line.isWarning { log.warn(line.text, about: line.about) } else { log.note(line.text, about: line.about) }
    }

    private func show(_ event: UploadEvent, _ spool: String, _ destination: String) {
        switch event {
        case .sent(let entry):
            // What was put into lanes was delivered nowhere yet.
            guard entry.outcome == .sent else { return }
            let end = state.withLock { state in
                state.delivered.add(entry, from: spool)
                return state.outages.answered(destination, at: .now())
            }
            if let end { show(end) }
        case .rejected(let entry):
            // Not one that is damaged, of which the destination was not asked.
            if entry.status != nil, let end = state.withLock({ $0.outages.answered(destination, delivers: false, at: .now()) }) {
                show(end)
            }
            log.warn(
                "\(spool): \(entry.segment) is rejected: \(entry.detail ?? "")",
                about: ["spool": spool, "segment": entry.segment])
        case .split(let entry):
            log.note(
                "\(spool): \(entry.segment) is split: \(entry.detail ?? "")", about: ["spool": spool, "segment": entry.segment])
        case .backsOff(let segment, let until, let reason):
            guard state.withLock({ $0.tells(reason, of: spool) }) else { return }
            log.note(
                "\(spool): \(segment) failed (\(reason.message)), not to be tried before \(until.rfc3339)",
                about: ["spool": spool, "segment": segment, "kind": reason.kind])
        case .warning(let text): log.warn(text, about: ["spool": spool])
        }
    }
}
