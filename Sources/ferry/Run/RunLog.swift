import FerrySpool
import FerryUpload

/// Tells what happens in a long run: what a person may want to know, and nothing for each segment that is well.
struct RunLog: Sendable {
    let log: Log

    func show(_ event: RunEvent) {
        switch event {
        case .upload(let spool, let event): show(event, spool)
        case .blocked(let spool, .unavailable(let why)?):
            log.warn(
                "\(spool) is gone, or cannot be used, and is taken up as soon as it is there: \(why)",
                about: ["spool": spool, "reason": "unavailable"])
        case .blocked(let spool, let blocker?): log.note("\(spool): \(blocker)", about: ["spool": spool, "reason": blocker.kind])
        case .blocked(let spool, nil): log.note("\(spool): sending", about: ["spool": spool])
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

    private func show(_ event: UploadEvent, _ spool: String) {
        switch event {
        case .sent: break
        case .rejected(let entry):
            log.warn(
                "\(spool): \(entry.segment) is rejected: \(entry.detail ?? "")",
                about: ["spool": spool, "segment": entry.segment])
        case .split(let entry):
            log.note(
                "\(spool): \(entry.segment) is split: \(entry.detail ?? "")", about: ["spool": spool, "segment": entry.segment])
        case .backsOff(let segment, let until, let reason):
            log.note(
                "\(spool): \(segment) failed (\(reason.message)), not to be tried before \(until.rfc3339)",
                about: ["spool": spool, "segment": segment, "kind": reason.kind])
        case .warning(let text): log.warn(text, about: ["spool": spool])
        }
    }
}
