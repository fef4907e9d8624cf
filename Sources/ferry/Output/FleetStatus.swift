import FerrySpool
import FerryUpload

/// One line for each of many spools: what is wrong with which, since when, and what to do.
struct FleetStatus: Encodable, Sendable {
    let spool: String
    /// The most troubling condition, as a word.
    let state: SpoolCondition.Kind
    /// All that is to be known, the most troubling first.
    let conditions: [SpoolCondition]
    /// Whether one of them waits for a person.
    let needsPerson: Bool
    /// The machine that it belongs to, where a hub's list says so.
    let machine: String?
    var pending: Int64 = 0
    var bytes: Int64 = 0
    /// When the last segment was opened that came from there.
    var last: Timestamp?
    var oldest: Timestamp?
    var late: Int64 = 0
    var rejected: Int64 = 0
    /// How many segments travel by hand.
    var travelling: Int64 = 0
    /// Nothing has come for longer than usual.
    var isSilent = false
    /// Whether `ferry run` looks after it, on this machine.
    var isServed = false
    /// Why nothing is sent from it now.
    var standstill: Standstill?
    /// Why it, or something in it, cannot be read.
    var problem: String?

    /// - Parameter places: What was seen of the spool, and of its lanes.
    init(_ places: [SpoolFacts], at now: Timestamp) {
        spool = places.first?.spool ?? ""
        conditions = SpoolCondition.all(of: places, at: now)
        state = conditions.first?.kind ?? .ok
        needsPerson = conditions.contains(where: \.needsPerson)
        machine = places.first?.registration?.name
        for facts in places {
            pending.add(facts.pending)
            bytes.add(facts.bytes.bytes)
            late.add(facts.late)
            rejected.add(facts.rejected)
            oldest = [oldest, facts.oldest].compactMap(\.self).min()
            last = [last, facts.last].compactMap(\.self).max()
            isServed = isServed || facts.uploader != nil
            standstill = standstill ?? facts.standstill
            problem = problem ?? facts.problem
            for bundle in facts.travelling { travelling.add(Int64(bundle.segments)) }
        }
        isSilent = places.first?.isSilent ?? false
    }

    /// Looks at the spool at a path. Nothing in it changes.
    ///
    /// - Parameter registration: What the hub's list says of the machine that it belongs to.
    init(_ path: String, now: Timestamp, registration: Registration?, deadline: DueTime?, locks: HeldLocks) {
        var places = [SpoolFacts(path)]
        do throws(FileError) {
            try Spool.requireSpool(at: path)
            let spool = try Spool.open(path, access: .read)
            places[0] = SpoolFacts(
                spool, named: path, at: now, registration: registration, deadline: deadline, locks: locks)
            for name in try spool.lanes.names() {
                let lane = try Spool.open(spool.lanes.path(of: name), access: .read)
                places.append(SpoolFacts(lane, named: path, lane: name, at: now, deadline: deadline, locks: locks))
            }
        } catch {
            places[0].problem = places[0].problem ?? SpoolHint(path).text(for: error)
        }
        self.init(places, at: now)
    }

    /// Looks at spools, several at once: each takes some hundred short waits for the kernel.
    ///
    /// - Returns: The most troubling first, and of equal ones in the order of their names.
    static func all(_ paths: [String], now: Timestamp, deadline: DueTime?, workers: Int) async -> [FleetStatus] {
        let locks = HeldLocks()
        let registrations = Registrations(of: paths)
        let found = await withTaskGroup(of: [FleetStatus].self) { group in
            for worker in 0..<workers {
                group.addTask {
                    stride(from: worker, to: paths.count, by: workers).map {
                        FleetStatus(
                            paths[$0], now: now, registration: registrations[paths[$0]], deadline: deadline, locks: locks)
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return found.sorted(by: isBefore)
    }

    /// Returns whether a spool is shown before another.
    static func isBefore(_ left: FleetStatus, _ right: FleetStatus) -> Bool {
        let ok = SpoolCondition(kind: .ok)
        let (first, second) = (left.conditions.first ?? ok, right.conditions.first ?? ok)
        if first.needsPerson != second.needsPerson { return first.needsPerson }
        if first.kind != second.kind { return first < second }
        return left.spool.utf8.lexicographicallyPrecedes(right.spool.utf8)
    }
}
