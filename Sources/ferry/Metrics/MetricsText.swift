import FerrySpool
import FerryUpload

/// The state of a run as Prometheus reads it.
struct MetricsText {
    enum Format {
        /// OpenMetrics 1.0: the name of a counter's family lacks `_total`, and the text has an end.
        case openMetrics
        /// Prometheus' text format 0.0.4, for node_exporter's textfile collector.
        case prometheus

        var contentType: String {
            switch self {
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
            }
        }
    }

    private enum Kind: String { case gauge, counter, histogram }

    private struct Family {
        let name: String
        let kind: Kind
        let help: String
        var samples: [(suffix: String, labels: [(String, String)], value: Double)] = []

        mutating func add(_ value: Double, _ labels: [(String, String)] = [], suffix: String = "") {
            samples.append((suffix, labels, value))
        }
    }

    private var families: [Family] = []

    init(_ snapshot: RunSnapshot, now: Timestamp) {
        addAvailability(snapshot)
        addPending(snapshot, now)
        addCounters(snapshot)
        addState(snapshot)
    }

    private mutating func addAvailability(_ snapshot: RunSnapshot) {
        var available = Family(
            name: "ferry_spool_available", kind: .gauge,
            help: "1 while a spool's folder is there and can be used; 0: what is pending in it, nothing can tell.")
        for spool in snapshot.spools { available.add(spool.isAvailable ? 1 : 0, [("spool", spool.path)]) }
        families.append(available)
    }

    private mutating func addPending(_ snapshot: RunSnapshot, _ now: Timestamp) {
        var segments = Family(name: "ferry_pending_segments", kind: .gauge, help: "Segments that wait to be sent.")
        var bytes = Family(name: "ferry_pending_bytes", kind: .gauge, help: "Bytes of the segments that wait to be sent.")
        var oldest = Family(
            name: "ferry_oldest_pending_age_seconds", kind: .gauge, help: "Age of the oldest segment that waits to be sent.")
        var late = Family(name: "ferry_late_segments", kind: .gauge, help: "Pending segments that missed their deadline.")
        // Of a spool that is gone nothing is said: zeros would look like a healthy, empty one.
        for spool in snapshot.spools where spool.isAvailable {
            // A priority that was ever seen stays, at zero: a gap would look like a dead uploader.
            let seen = snapshot.counters.counts.keys.filter { $0.spool == spool.path }.map(\.priority)
            for priority in Set(seen + spool.pending.keys).sorted() {
                let pending = spool.pending[priority] ?? .init()
                let labels = [("spool", spool.path), ("priority", "\(priority.level)")]
                segments.add(Double(pending.segments), labels)
                bytes.add(Double(pending.bytes.bytes), labels)
                oldest.add(pending.oldest.map { max(0, (now - $0).inSeconds) } ?? 0, labels)
                late.add(Double(pending.late), labels)
            }
        }
        families += [segments, bytes, oldest, late]
    }

    private mutating func addCounters(_ snapshot: RunSnapshot) {
        let counts = snapshot.counters.counts.sorted { ($0.key.spool, $0.key.priority) < ($1.key.spool, $1.key.priority) }
        let columns: [(String, String, any KeyPath<RunCounters.Counts, Int64> & Sendable)] = [
            ("ferry_sent_segments", "Segments that were delivered.", \.sent),
            ("ferry_sent_bytes", "Bytes of delivered segments.", \.sentBytes),
            ("ferry_sent_events", "Events in delivered segments, as far as known.", \.sentEvents),
            ("ferry_retried_attempts", "Failed tries of segments that then wait, their destination being well.", \.retried),
            ("ferry_rejected_segments", "Segments that were moved to rejected/.", \.rejected),
            ("ferry_split_segments", "Segments that were split because they were too large.", \.split),
        ]
        for (name, help, path) in columns {
            var family = Family(name: name, kind: .counter, help: help)
            for (key, counts) in counts {
                family.add(Double(counts[keyPath: path]), [("spool", key.spool), ("priority", "\(key.priority.level)")])
            }
            families.append(family)
        }
        var dropped = Family(name: "ferry_dropped_segments", kind: .counter, help: "Segments that a limit deleted, by reason.")
        for spool in snapshot.spools {
            for reason in ["expired", "evicted"] {
                dropped.add(
                    Double(snapshot.counters.dropped[spool.path]?[reason] ?? 0), [("spool", spool.path), ("reason", reason)])
            }
        }
        families.append(dropped)
    }

    private mutating func addState(_ snapshot: RunSnapshot) {
        var latency = Family(name: "ferry_request_duration_seconds", kind: .histogram, help: "How long answered requests took.")
        let requests = snapshot.counters.requests
        for (bound, count) in zip(RunCounters.Latency.bounds, requests.buckets) {
            latency.add(Double(count), [("le", Self.number(bound))], suffix: "_bucket")
        }
        latency.add(Double(requests.count), [("le", "+Inf")], suffix: "_bucket")
        latency.add(requests.seconds, suffix: "_sum")
        latency.add(Double(requests.count), suffix: "_count")
        var breaker = Family(name: "ferry_breaker_state", kind: .gauge, help: "1 for the state that the circuit breaker is in.")
        for state in BreakerState.allCases { breaker.add(state == snapshot.breaker ? 1 : 0, [("state", state.rawValue)]) }
        var blocked = Family(name: "ferry_blocked", kind: .gauge, help: "1 while nothing is sent from a spool, by reason.")
        for spool in snapshot.spools {
            if let blocker = spool.blocker { blocked.add(1, [("spool", spool.path), ("reason", blocker.kind)]) }
        }
        var underWay = Family(name: "ferry_requests_in_flight", kind: .gauge, help: "Requests under way.")
        underWay.add(Double(snapshot.requestsUnderWay))
        var build = Family(name: "ferry_build_info", kind: .gauge, help: "1, with the version.")
        build.add(1, [("version", FerryVersion.current)])
        families += [latency, breaker, blocked, underWay, build]
    }

    func text(_ format: Format) -> String {
        var text = ""
        for family in families {
            let isTotal = family.kind == .counter
            let familyName = isTotal && format == .prometheus ? family.name + "_total" : family.name
            text += "# HELP \(familyName) \(family.help)\n# TYPE \(familyName) \(family.kind.rawValue)\n"
            for sample in family.samples {
                let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
                let name = family.name + (isTotal ? "_total" : sample.suffix)
                text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
            }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
