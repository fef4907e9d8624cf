import FerrySpool
import Glibc

/// Puts segments into lanes: all of what was in one request with another, or nothing of it, since a lane that had a part would send that under another key.
struct LanePass {
    let lanes: [Lane]
    let spool: Spool
    let routedBefore: RoutedBefore

    /// What keeps the segments in their spool.
    private struct Stop: Error {
        let verdict: Verdict
    }

    /// Puts segments into all lanes that they are for.
    ///
    /// - Returns: Also which lanes they are not in that can do without, and why.
    func put(_ segments: [(claim: Claim, facts: SegmentMetadata)]) -> (Verdict, missed: [String]) {
        var plan = Plan()
        defer { for (_, entry) in plan.entries { entry.discard() } }
        do throws(Stop) {
            for (claim, facts) in segments { try stage(claim, facts, &plan) }
            // Those that must have them last: what stays for them was not given away by a lane that could do without.
            plan.entries.sort { !$0.lane.isRequired && $1.lane.isRequired }
            while let (lane, entry) = plan.entries.first {
                let problem: Verdict?
                do throws(FileError) {
                    problem = try spool.lanes.put(entry, into: lane.name) == .nameTaken ? Self.nameTaken(entry.name, lane) : nil
                } catch {
                    problem = Self.failed(error, lane)
                }
                try plan.note(problem, lane, entry.name)
                plan.entries.removeFirst()
            }
        } catch {
            return (error.verdict, [])
        }
        // No segment leaves its folder for nowhere.
        if let problem = plan.problems.first(where: { !plan.placed.contains($0.key) })?.value { return (problem, []) }
        return (.delivered(status: nil), plan.missed)
    }

    /// What is to be put, and what came of it.
    private struct Plan {
        var entries: [(lane: Lane, entry: LaneEntry)] = []
        /// The names in lanes of segments that are in one.
        var placed: Set<String> = []
        /// Why a segment is not in a lane that can do without it, by its name there.
        var problems: [String: Verdict] = [:]
        /// Which lanes segments are not in, and why.
        var missed: [String] = []

        /// Notes whether a segment is in a lane.
        ///
        /// - Parameter problem: Why it is not.
        mutating func note(_ problem: Verdict?, _ lane: Lane, _ name: String) throws(Stop) {
            guard let problem else {
                placed.insert(name)
                return
            }
            guard !lane.isRequired else { throw Stop(verdict: problem) }
            problems[name] = problem
            let text = "it is not in to/\(lane.name): \(problem.reason?.message ?? "")"
            if !missed.contains(text) { missed.append(text) }
        }
    }

    /// Prepares a segment for its lanes.
    private func stage(_ claim: Claim, _ facts: SegmentMetadata, _ plan: inout Plan) throws(Stop) {
        let chosen = lanes.filter { $0.takes(stream: facts.stream, facts.priority, of: spool.path) }
        guard !chosen.isEmpty else { throw Stop(verdict: .refused(Self.noRoute(facts), body: "")) }
        let name: String
        do throws(FileError) { name = try spool.lanes.name(of: claim) } catch {
            throw Stop(verdict: .circling(Self.reason(error)))
        }
        let returning = routedBefore.contains(claim.name, of: spool) ? claim.segmentName : nil
        for lane in chosen {
            if let returning, let own = try? Spool.open(spool.lanes.path(of: lane.name), access: .read),
                routedBefore.hasLeft(own, returning, bytes: claim.status.size.bytes)
            {
                plan.placed.insert(name)
                plan.missed.append("to/\(lane.name) had it before a crash, and does not get it again")
                continue
            }
            let problem: Verdict?
            do throws(FileError) {
                switch try spool.lanes.stage(claim, as: name, in: lane.name) {
                case .ready(let entry):
                    plan.entries.append((lane, entry))
                    continue
                case .wasThere: problem = nil
                case .nameTaken: problem = Self.nameTaken(facts.name, lane)
                }
            } catch {
                problem = Self.failed(error, lane)
            }
            try plan.note(problem, lane, name)
        }
    }
}

extension LanePass {
    private static func noRoute(_ facts: SegmentMetadata) -> Verdict.Reason {
        Verdict.Reason(
            kind: "no-destination",
            message:
                "no route takes stream \(facts.stream ?? "default") with priority \(facts.priority.level): mend 'routes', then ferry retry"
        )
    }

    private static func nameTaken(_ name: String, _ lane: Lane) -> Verdict {
        .circling(
            Verdict.Reason(kind: RetryState.laneKind, message: "another segment of the name \(name) waits in to/\(lane.name)"))
    }

    /// A lane that must have everything keeps all segments back; another one those that are for it, and no others.
    private static func failed(_ error: FileError, _ lane: Lane) -> Verdict {
        guard lane.isRequired, lane.takesAll else { return .circling(reason(error)) }
        switch error.code {
        case EACCES, EPERM, EROFS, ENOTDIR, ELOOP, ENOMEDIUM: return .misconfigured(reason(error))
        default: return .unavailable(reason(error), retryAfter: nil)
        }
    }

    /// Returns what is told: the same for each segment, though the file that was to become one had a name of its own.
    private static func reason(_ error: FileError) -> Verdict.Reason {
        var shown = error
        if error.path.hasSuffix(".ferry-tmp"), let slash = error.path.lastIndex(of: "/") {
            shown = FileError("\(error.operation) in", String(error.path[..<slash]), code: error.code)
        }
        return Verdict.Reason(kind: RetryState.laneKind, message: "\(shown)")
    }
}
