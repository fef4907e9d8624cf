import FerrySpool
import Glibc

/// The lanes of the spool itself: a segment is put into those that it is for, and leaves each of them by itself.
struct LanesDestination: DirectDestination {
    let lanes: [Lane]

    func deliver(_ outgoing: OutgoingRequest, _ pace: DeliveryPace, _ trace: inout RequestTrace) async -> Verdict {
        // Each has a name of its own there: a request carries one.
        guard let source = outgoing.source, let claim = source.claims.first else { return Verdict(.fileChanged) }
        let facts = outgoing.facts[0]
        let (verdict, missed) = await blocking { put(claim, facts, of: source.spool) }
        if !missed.isEmpty {
            trace.remark = missed.joined(separator: "; ")
            trace.notice = "\(facts.name): \(missed.joined(separator: "; "))"
        }
        return verdict
    }

    /// Returns also which lanes the segment is not in, and why.
    private func put(_ claim: Claim, _ facts: SegmentMetadata, of spool: Spool) -> (Verdict, missed: [String]) {
        let chosen = lanes.filter { $0.takes(stream: facts.stream, facts.priority, of: spool.path) }
        guard !chosen.isEmpty else { return (.refused(Self.noRoute(facts), body: ""), []) }
        let name: String
        do throws(FileError) { name = try spool.lanes.name(of: claim) } catch { return (Self.failed(error), []) }
        for lane in chosen where lane.isRequired {
            do throws(FileError) {
                guard try spool.lanes.look(for: claim, as: name, in: lane.name) != .nameTaken else {
                    return (.circling(Self.nameTaken(facts.name, lane.name)), [])
                }
            } catch {
                return (Self.failed(error), [])
            }
        }
        var missed: [String] = []
        // Those that must have it last: a segment that stays for them was not given away by a lane that could do without.
        for lane in chosen.sorted(by: { !$0.isRequired && $1.isRequired }) {
            do throws(FileError) {
                guard try spool.lanes.put(claim, as: name, into: lane.name) == .nameTaken else { continue }
                let reason = Self.nameTaken(facts.name, lane.name)
                if lane.isRequired { return (.circling(reason), []) }
                missed.append(reason.message)
            } catch {
                // No segment leaves its folder for nowhere.
                if lane.isRequired || missed.count + 1 == chosen.count { return (Self.failed(error), []) }
                missed.append("it is not in to/\(lane.name): \(error)")
            }
        }
        if missed.count == chosen.count { return (.circling(Self.nameTaken(facts.name, chosen[0].name)), []) }
        return (.delivered(status: nil), missed)
    }

    func check() -> DestinationCheck { .good("lanes are folders of the spool") }

    func force(_ spool: Spool) throws(FileError) { try spool.lanes.sync(lanes.map(\.name)) }

    private static func noRoute(_ facts: SegmentMetadata) -> Verdict.Reason {
        Verdict.Reason(
            kind: "no-destination",
            message:
                "no route takes stream \(facts.stream ?? "default") with priority \(facts.priority.level): mend 'routes', then ferry retry"
        )
    }

    private static func nameTaken(_ name: String, _ lane: LaneName) -> Verdict.Reason {
        Verdict.Reason(kind: "name-taken", message: "another segment of the name \(name) waits in to/\(lane)")
    }

    private static func failed(_ error: FileError) -> Verdict {
        let reason = Verdict.Reason(kind: "lane", message: "\(error)")
        switch error.code {
        case EACCES, EPERM, EROFS, ENOTDIR, ELOOP, ENOMEDIUM: return .misconfigured(reason)
        default: return .unavailable(reason, retryAfter: nil)
        }
    }
}
