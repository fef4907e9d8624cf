import FerryReceiver
import FerrySpool
import Synchronization

/// What a receiver has taken and refused since it started, and how its spools are, as Prometheus reads it.
final class ReceiverMetrics: Sendable {
    private struct Taken {
        var segments = 0
        var duplicates = 0
        var events: Int64 = 0
        var bytes: Int64 = 0
        /// When the last segment came, also one that was known.
        var last: Timestamp?
    }

    private struct Refused: Hashable {
        let machine: String
        let status: Int
    }

    private struct Counts {
        /// By what the senders are called; of those that have no name, under an empty one.
        var taken: [String: Taken] = [:]
        var refused: [Refused: Int] = [:]

        /// Returns under which name a sender is counted. A name is new only with a segment that was taken, and only as long as there are not too many.
        func name(of sender: Sender, mayBeNew: Bool) -> String {
            if let machine = sender.machine { return machine.text }
            guard let spool = sender.spool else { return "" }
            if taken[spool] != nil { return spool }
            return !mayBeNew ? "" : taken.count < ReceiverMetrics.mostSenders ? spool : ReceiverMetrics.otherSenders
        }
    }

    /// A client can give itself any number of names. None is forgotten, and each takes room in every answer.
    static let mostSenders = 500
    /// What the others are called together.
    static let otherSenders = "other"

    private let counts = Mutex(Counts())

    func count(_ event: ReceiverEvent, at now: Timestamp = .now()) {
        switch event {
        case .received(let segment, let sender):
            counts.withLock { counts in
                let name = counts.name(of: sender, mayBeNew: true)
                var taken = counts.taken[name] ?? Taken()
                taken.last = now
                if segment.isDuplicate {
                    taken.duplicates += 1
                } else {
                    taken.segments += 1
                    taken.events = taken.events.adding(segment.events ?? 0)
                    taken.bytes = taken.bytes.adding(segment.bytes.bytes)
                }
                counts.taken[name] = taken
            }
        case .refused(let refusal):
            counts.withLock { counts in
                let name = counts.name(of: refusal.sender, mayBeNew: false)
                counts.refused[.init(machine: name, status: refusal.status), default: 0] += 1
            }
        case .failed, .sentDeleted, .keysForgotten, .warning: break
        }
    }

    /// Returns the bytes of the segments that were stored, of a machine or in all.
    func bytesTaken(of machine: String?) -> Int64 {
        counts.withLock { counts in
            guard let machine else { return counts.taken.values.reduce(0) { $0.adding($1.bytes) } }
            return counts.taken[machine]?.bytes ?? 0
        }
    }

    /// Returns everything that Prometheus reads of a receiver.
    func families(_ look: ReceiverLook, now: Timestamp) -> [MetricFamily] {
        let (taken, refused) = counts.withLock { counts in
            // What has sent nothing yet is there from the start: a gap would look like a dead receiver. So is what sent before the start: no
            // stranger takes its place.
            for name in Self.expected(look) where counts.taken[name] == nil && counts.taken.count < Self.most(look) {
                counts.taken[name] = Taken()
            }
            return (counts.taken, counts.refused)
        }
        return Self.received(taken, look) + [Self.refused(refused, look)] + Self.spools(look, now) + [Self.build]
    }

    private static func most(_ look: ReceiverLook) -> Int {
        look.spools.contains { $0.machine != nil } ? .max : mostSenders
    }

    private static func expected(_ look: ReceiverLook) -> [String] {
        let machines = look.spools.compactMap(\.machine)
        return machines.isEmpty ? [""] + look.spools.flatMap { $0.gauges?.senders ?? [] }.compactMap(\.id) : machines
    }

    private static func labels(_ machine: String) -> [(String, String)] { machine.isEmpty ? [] : [("machine", machine)] }

    private static func received(_ taken: [String: Taken], _ look: ReceiverLook) -> [MetricFamily] {
        var last = MetricFamily(
            name: "ferry_last_received_timestamp_seconds", kind: .gauge,
            help: "When a segment came last; of one that came before the start, when it was made; 0: never.")
        var segments = MetricFamily(name: "ferry_received_segments", kind: .counter, help: "Segments that were stored.")
        var duplicates = MetricFamily(
            name: "ferry_received_duplicates", kind: .counter, help: "Segments that were there already, and answered for.")
        var events = MetricFamily(name: "ferry_received_events", kind: .counter, help: "Events of the segments that were stored.")
        var bytes = MetricFamily(name: "ferry_received_bytes", kind: .counter, help: "Bytes of the segments that were stored.")
        var before: [String: Timestamp] = [:]
        for spool in look.spools {
            before[spool.machine ?? ""] = spool.gauges?.lastArrival
            if spool.machine == nil { for sender in spool.gauges?.senders ?? [] { before[sender.id ?? ""] = sender.last } }
        }
        for (machine, taken) in taken.sorted(by: { $0.key < $1.key }) {
            segments.add(Double(taken.segments), labels(machine))
            duplicates.add(Double(taken.duplicates), labels(machine))
            events.add(Double(taken.events), labels(machine))
            bytes.add(Double(taken.bytes), labels(machine))
            last.add((taken.last ?? before[machine])?.inUnixSeconds ?? 0, labels(machine))
        }
        return [segments, duplicates, events, bytes, last]
    }

    /// What may be refused a machine that it knows, and a request of no machine.
    private static let statuses = (ofMachine: [429, 507], ofNone: [400, 401, 404, 503])

    private static func refused(_ refused: [Refused: Int], _ look: ReceiverLook) -> MetricFamily {
        var refused = refused
        for status in statuses.ofNone { refused[.init(machine: "", status: status), default: 0] += 0 }
        for machine in look.spools.compactMap(\.machine) {
            for status in statuses.ofMachine { refused[.init(machine: machine, status: status), default: 0] += 0 }
        }
        var family = MetricFamily(
            name: "ferry_refused_requests", kind: .counter, help: "Requests that were answered with an error, by status.")
        for (key, count) in refused.sorted(by: { ($0.key.machine, $0.key.status) < ($1.key.machine, $1.key.status) }) {
            family.add(Double(count), labels(key.machine) + [("status", "\(key.status)")])
        }
        return family
    }

    private static func spools(_ look: ReceiverLook, _ now: Timestamp) -> [MetricFamily] {
        var available = GaugeFamilies.available
        var pending = PendingFamilies()
        var (rejected, silent) = (GaugeFamilies.rejected, GaugeFamilies.silent)
        for spool in look.spools {
            let machine = labels(spool.machine ?? "")
            let place = machine + [("spool", spool.path)]
            available.add(spool.gauges == nil ? 0 : 1, place)
            guard let gauges = spool.gauges else { continue }
            for (priority, amount) in gauges.pending.sorted(by: { $0.key < $1.key }) {
                pending.add(amount, place + [("priority", "\(priority.level)")], now: now)
            }
            rejected.add(Double(gauges.rejected), place)
            silent.add(gauges.isSilent ? 1 : 0, place)
            if spool.machine == nil {
                for sender in gauges.senders.prefix(mostSenders) {
                    if let id = sender.id { silent.add(sender.isSilent(at: now) ? 1 : 0, labels(id) + place) }
                }
            }
        }
        var (free, size) = (GaugeFamilies.diskFree, GaugeFamilies.diskSize)
        for disk in look.disks {
            free.add(Double(disk.space.free.bytes), [("spool", disk.path)])
            size.add(Double(disk.space.size.bytes), [("spool", disk.path)])
        }
        return [available] + pending.all + [rejected, silent, free, size]
    }

    private static var build: MetricFamily {
        var build = MetricFamily(name: "ferry_build_info", kind: .gauge, help: "1, with the version.")
        build.add(1, [("version", FerryVersion.current)])
        return build
    }
}
