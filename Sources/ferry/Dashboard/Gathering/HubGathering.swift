import FerrySpool
import FerryUpload
import Glibc

/// Gathers a report from the folders alone: any process that may read them can.
struct HubGathering: Sendable {
    let places: HubPlaces

    /// Of each spool.
    private static let mostRejectedEach = 20
    /// Of all.
    private static let mostRejected = 100
    private static let mostEndings = 50
    private static let mostProblems = 20
    private static let longestLine = 2048

    /// Looks at everything, on the calling thread.
    func report(at now: Timestamp) -> HubReport {
        var report = HubReport(at: now, host: Self.hostName)
        let locks = HeldLocks()
        let minute = HistoryMinute(now)
        var destinations = DestinationGathering()
        var rejected: [(machine: String, spool: Spool, segment: RejectedSegment)] = []
        var ledgers: [(machine: String, ledger: Ledger, changed: Timestamp)] = []
        let places = places.places { report.problems.append($0.description) }
        let registrations = Registrations(of: places.map(\.path))
        for place in places {
            let status = FleetStatus(
                place.path, now: now, registration: registrations[place.path], deadline: nil, locks: locks)
            var machine = HubReport.Machine(
                name: place.name, path: place.path, conditions: status.conditions, pending: status.pending,
                bytes: ByteCount(status.bytes), oldest: status.oldest, last: status.last, day: DayHistory(nil, until: minute))
            if let spool = try? Spool.open(place.path, access: .read) {
                machine.day = DayHistory(spool.history.read(), until: minute)
                report.day.add(machine.day)
                let lanes = Self.lanes(of: spool, place.name)
                for (lane, name) in [(spool, place.name)] + lanes {
                    if let changed = lane.ledger.changed { ledgers.append((name, lane.ledger, changed)) }
                    if let latest = try? lane.rejected.latest(Self.mostRejectedEach) {
                        report.rejectedCount.add(latest.count)
                        rejected += latest.segments.map { (name, lane, $0) }
                    }
                }
                for (lane, _) in lanes.isEmpty ? [(spool, place.name)] : lanes { destinations.add(lane, locks, at: now) }
            }
            report.machines.append(machine)
        }
        // Of many spools each is one machine's.
        if places.count == 1, registrations[places[0].path] == nil, let spool = try? Spool.open(places[0].path, access: .read) {
            report.senders = (try? spool.received.latestSenders())?.all ?? []
        }
        report.destinations = destinations.all
        report.rejected = Self.latest(rejected)
        report.endings = Self.endings(ledgers)
        report.problems = Array(report.problems.prefix(Self.mostProblems))
        report.sort()
        return report
    }

    private static func lanes(of spool: Spool, _ name: String) -> [(Spool, String)] {
        ((try? spool.lanes.names()) ?? []).compactMap { lane in
            (try? Spool.open(spool.lanes.path(of: lane), access: .read)).map { ($0, "\(name) to \(lane)") }
        }
    }

    /// Returns the latest, with their first lines.
    private static func latest(
        _ rejected: [(machine: String, spool: Spool, segment: RejectedSegment)]
    ) -> [HubReport.Rejected] {
        let latest = rejected.sorted { $0.segment.reason?.at ?? .distantPast > $1.segment.reason?.at ?? .distantPast }
        return latest.prefix(mostRejected).map { machine, spool, segment in
            let line = spool.rejected.firstLine(of: segment.name, most: longestLine)
            return HubReport.Rejected(
                machine: machine, segment: segment.name, bytes: segment.size, reason: segment.reason,
                firstLine: line.map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// The latest lines are in the ledgers that were written last, one at least in each.
    private static func endings(_ ledgers: [(machine: String, ledger: Ledger, changed: Timestamp)]) -> [HubReport.Ended] {
        var endings: [HubReport.Ended] = []
        for (machine, ledger, _) in ledgers.sorted(by: { $0.changed > $1.changed }).prefix(mostEndings) {
            endings += ((try? ledger.latest(mostEndings)) ?? []).map { .init(machine: machine, entry: $0) }
        }
        return Array(endings.sorted { $0.entry.at > $1.entry.at }.prefix(mostEndings))
    }

    static let hostName: String = {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "this machine" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()
}
