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
        /// By machine; of a receiver that has none, under an empty name.
        var taken: [String: Taken] = [:]
        var refused: [Refused: Int] = [:]
    }

    private let counts = Mutex(Counts())

    func count(_ event: ReceiverEvent, at now: Timestamp = .now()) {
        switch event {
        case .received(let segment, let machine):
            counts.withLock { counts in
                var taken = counts.taken[machine?.text ?? ""] ?? Taken()
                taken.last = now
                if segment.isDuplicate {
                    taken.duplicates += 1
                } else {
                    taken.segments += 1
                    taken.events = taken.events.adding(segment.events ?? 0)
                    taken.bytes = taken.bytes.adding(segment.bytes.bytes)
                }
                counts.taken[machine?.text ?? ""] = taken
            }
        case .refused(let refusal):
            counts.withLock { $0.refused[.init(machine: refusal.machine?.text ?? "", status: refusal.status), default: 0] += 1 }
        case .failed, .sentDeleted, .keysForgotten, .warning: break
        }
    }

    /// The bytes of the segments that were stored, by machine; of a receiver that has none, under an empty name.
    var bytesTaken: [String: Int64] { counts.withLock { $0.taken.mapValues(\.bytes) } }

    /// Returns everything that Prometheus reads of a receiver.
    ///
    /// - Parameter gauges: What looks into the spools found, by machine; of a receiver that has none, under an empty name.
    func families(_ gauges: [String: SpoolGauges], disk: (path: String, space: DiskSpace)?) -> [MetricFamily] {
        var counts = counts.withLock { $0 }
        // What has sent nothing yet is there from the start: a gap would look like a dead receiver.
        for machine in gauges.keys where counts.taken[machine] == nil { counts.taken[machine] = Taken() }
        var last = MetricFamily(
            name: "ferry_last_received_timestamp_seconds", kind: .gauge,
            help: "When a segment came last; of one that came before the start, when it was made; 0: never.")
        var segments = MetricFamily(name: "ferry_received_segments", kind: .counter, help: "Segments that were stored.")
        var duplicates = MetricFamily(
            name: "ferry_received_duplicates", kind: .counter, help: "Segments that were there already, and answered for.")
        var events = MetricFamily(name: "ferry_received_events", kind: .counter, help: "Events of the segments that were stored.")
        var bytes = MetricFamily(name: "ferry_received_bytes", kind: .counter, help: "Bytes of the segments that were stored.")
        for (machine, taken) in counts.taken.sorted(by: { $0.key < $1.key }) {
            let labels = machine.isEmpty ? [] : [("machine", machine)]
            segments.add(Double(taken.segments), labels)
            duplicates.add(Double(taken.duplicates), labels)
            events.add(Double(taken.events), labels)
            bytes.add(Double(taken.bytes), labels)
            last.add((taken.last ?? gauges[machine]?.lastArrival)?.inUnixSeconds ?? 0, labels)
        }
        var silent = GaugeFamilies.silent
        for (machine, gauges) in gauges.sorted(by: { $0.key < $1.key }) {
            silent.add(gauges.isSilent ? 1 : 0, machine.isEmpty ? [] : [("machine", machine)])
        }
        var (free, size) = (GaugeFamilies.diskFree, GaugeFamilies.diskSize)
        if let disk {
            free.add(Double(disk.space.free.bytes), [("spool", disk.path)])
            size.add(Double(disk.space.size.bytes), [("spool", disk.path)])
        }
        var refused = MetricFamily(
            name: "ferry_refused_requests", kind: .counter, help: "Requests that were answered with an error, by status.")
        for (key, count) in counts.refused.sorted(by: { ($0.key.machine, $0.key.status) < ($1.key.machine, $1.key.status) }) {
            let labels = key.machine.isEmpty ? [] : [("machine", key.machine)]
            refused.add(Double(count), labels + [("status", "\(key.status)")])
        }
        var build = MetricFamily(name: "ferry_build_info", kind: .gauge, help: "1, with the version.")
        build.add(1, [("version", FerryVersion.current)])
        return [segments, duplicates, events, bytes, refused, last, silent, free, size, build]
    }
}
