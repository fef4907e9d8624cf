import FerrySpool
import FerryUpload

/// What is told of spools and destinations from which, or to which, nothing is sent: a line when that begins, and one when it is over. Of a destination
/// there is one for all its spools.
struct DestinationOutages: Sendable {
    struct Line: Equatable {
        let text: String
        /// A person must mend it.
        var isWarning = false
        var about: [String: String] = [:]
    }

    private struct Outage {
        let since: Timestamp
        /// What was told of it. A destination that fails in two ways by turns makes no line each time.
        var told: Set<String>
    }

    /// Of one outage.
    private static let mostTold = 10

    private var outages: [String: Outage] = [:]
    /// The kind of what keeps all spools of a destination from sending though it did not fail.
    private var holds: [String: String] = [:]
    private var blockedSpools: Set<String> = []

    /// Returns what is to be told when a spool is blocked, or is no longer (`nil`).
    ///
    /// - Parameter destination: What the spool's segments are sent to.
    mutating func blocked(_ spool: String, _ blocker: SendBlocker?, destination: String, at now: Timestamp) -> Line? {
        guard let blocker else { return freed(spool, destination) }
        let about = ["reason": blocker.kind]
        switch blocker {
        case .unavailable(let why):
            blockedSpools.remove(spool)
            return Line(
                text: "\(spool) is gone, or cannot be used, and is taken up as soon as it is there: \(why)", isWarning: true,
                about: about.merging(["spool": spool]) { $1 })
        case .paused, .disabled, .headWaits:
            blockedSpools.insert(spool)
            return Line(text: "\(spool): \(blocker)", about: about.merging(["spool": spool]) { $1 })
        case .noRoute, .interfaceDenied, .windowClosed:
            guard holds.updateValue(blocker.kind, forKey: destination) != blocker.kind else { return nil }
            return Line(text: "\(destination): \(blocker)", about: about.merging(["destination": destination]) { $1 })
        case .destinationWaits, .misconfigured, .off:
            let kind = blocker.kind
            var outage = outages[destination] ?? Outage(since: now, told: [])
            defer { outages[destination] = outage }
            // Of what a person must mend each reason is told; not without end, where it differs each time.
            let reason = if case .misconfigured(_, let why) = blocker { "\(kind) \(why)" } else { kind }
            guard outage.told.count < Self.mostTold, outage.told.insert(reason).inserted else { return nil }
            return Line(
                text: "\(destination): \(blocker)", isWarning: kind != "destination-waits",
                about: about.merging(["destination": destination]) { $1 })
        }
    }

    private mutating func freed(_ spool: String, _ destination: String) -> Line? {
        if blockedSpools.remove(spool) != nil { return Line(text: "\(spool): sending", about: ["spool": spool]) }
        guard holds.removeValue(forKey: destination) != nil else { return nil }
        return Line(text: "\(destination): sending", about: ["destination": destination])
    }

    /// Returns what is to be told when a segment was delivered, or refused, which ends an outage as well. That a destination is tried again ends none.
    mutating func answered(_ destination: String, delivers: Bool = true, at now: Timestamp) -> Line? {
        guard let outage = outages.removeValue(forKey: destination) else { return nil }
        return Line(
            text: "\(destination): \(delivers ? "delivers" : "answers") again, after \(max(now - outage.since, .zero).forPeople)",
            about: ["destination": destination])
    }
}
