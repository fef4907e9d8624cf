import FerrySpool
import FerryUpload

/// What alerts are about and only a look into a spool's folder tells.
struct SpoolGauges: Equatable, Sendable {
    /// When a segment was delivered last.
    var lastDelivery: Timestamp?
    /// When the newest segment was opened, pending or sent.
    var lastArrival: Timestamp?
    /// Whether it has been silent for longer than usual.
    var isSilent = false
    /// What is pending. The usual priority is always there: a gap would look like a dead program.
    var pending: [Priority: RunSnapshot.Pending] = [.normal: .init()]
    /// How many segments lie in `rejected/`.
    var rejected: Int64 = 0
    /// How many pending segments travel by hand.
    var travelling: Int64 = 0
    /// Since when the first of them travels.
    var travellingSince: Timestamp?
    var disk: DiskSpace?
    /// Which spools gave it segments lately, where that was looked at.
    var senders: [SpoolSender] = []

    /// Creates the gauges of a spool in which nothing has happened.
    init() {}

    /// Looks into a spool; `nil` when it, or something in it, cannot be read: zeros would look like a healthy, empty one. Nothing stays open.
    ///
    /// - Parameters:
    ///   - registration: What the hub's list says of the machine that it belongs to.
    ///   - readsSenders: Whether the log of received keys is read.
    init?(
        of path: String, at now: Timestamp, locks: HeldLocks, registration: Registration? = nil, readsSenders: Bool = false
    ) {
        guard (try? Spool.requireSpool(at: path)) != nil, let spool = try? Spool.open(path, access: .read) else { return nil }
        let facts = SpoolFacts(spool, named: path, at: now, registration: registration, locks: locks)
        guard facts.problem == nil else { return nil }
        do throws(FileError) { lastDelivery = try spool.ledger.lastDelivery(at: now)?.at } catch { return nil }
        lastArrival = facts.last
        isSilent = facts.isSilent
        pending.merge(facts.byPriority) { $1 }
        rejected = facts.rejected
        travelling = facts.travelling.reduce(0) { $0.adding(Int64($1.segments)) }
        travellingSince = facts.travelling.map(\.since).min()
        disk = DiskSpace(of: path)
        if readsSenders { senders = (try? spool.received.latestSenders())?.all ?? [] }
    }
}
