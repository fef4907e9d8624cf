import FerrySpool
import FerryUpload

/// The state of a run, as Prometheus reads it.
struct RunMetrics {
    private(set) var families: [MetricFamily] = []

    /// - Parameter gauges: What looks into the spools' folders found, by path.
    init(_ snapshots: [NamedSnapshot], gauges: GaugeLooks.Found, now: Timestamp) {
        let runs = snapshots.map(\.run)
        addAvailability(runs, gauges)
        addPending(runs, now)
        addGauges(runs, gauges)
        addCounters(runs)
        addState(snapshots)
    }

    private mutating func addAvailability(_ snapshots: [RunSnapshot], _ gauges: GaugeLooks.Found) {
        var available = GaugeFamilies.available
        for spool in snapshots.flatMap(\.spools) {
            available.add(spool.isAvailable && !gauges.cannotRead(spool.path) ? 1 : 0, [("spool", spool.path)])
        }
        families.append(available)
    }

    private mutating func addPending(_ snapshots: [RunSnapshot], _ now: Timestamp) {
        var amounts = PendingFamilies()
        var late = MetricFamily(name: "ferry_late_segments", kind: .gauge, help: "Pending segments that missed their deadline.")
        // Of a spool that is gone nothing is said: zeros would look like a healthy, empty one.
        let counted = snapshots.flatMap(\.counters.counts.keys)
        for spool in snapshots.flatMap(\.spools) where spool.isAvailable {
            // A priority that was ever seen stays, at zero, and the usual one is there from the start: a gap would look like a dead uploader.
            let seen = counted.filter { $0.spool == spool.path }.map(\.priority)
            for priority in Set(seen + spool.pending.keys + [.normal]).sorted() {
                let pending = spool.pending[priority] ?? .init()
                let labels = [("spool", spool.path), ("priority", "\(priority.level)")]
                amounts.add(pending, labels, now: now)
                late.add(Double(pending.late), labels)
            }
        }
        families += amounts.all + [late]
    }

    private mutating func addGauges(_ snapshots: [RunSnapshot], _ gauges: GaugeLooks.Found) {
        var found = GaugeFamilies()
        for spool in snapshots.flatMap(\.spools) where spool.isAvailable {
            if let gauges = gauges[spool.path] { found.add(gauges, of: spool.path) }
        }
        families += found.all
    }

    private mutating func addCounters(_ snapshots: [RunSnapshot]) {
        var all = Dictionary(
            snapshots.flatMap(\.spools).map { (RunCounters.Key(spool: $0.path, priority: .normal), RunCounters.Counts()) }
        ) { first, _ in first }
        for (key, counts) in snapshots.flatMap(\.counters.counts) { all[key] = counts }
        let counts = all.sorted { ($0.key.spool, $0.key.priority) < ($1.key.spool, $1.key.priority) }
        let columns: [(String, String, any KeyPath<RunCounters.Counts, Int64> & Sendable)] = [
            ("ferry_sent_segments", "Segments that were delivered.", \.sent),
            ("ferry_sent_bytes", "Bytes of delivered segments.", \.sentBytes),
            ("ferry_sent_events", "Events in delivered segments, as far as known.", \.sentEvents),
            ("ferry_retried_attempts", "Failed tries of segments that then wait, their destination being well.", \.retried),
            ("ferry_rejected_segments", "Segments that were moved to rejected/.", \.rejected),
            ("ferry_split_segments", "Segments that were split because they were too large.", \.split),
        ]
        for (name, help, path) in columns {
            var family = MetricFamily(name: name, kind: .counter, help: help)
            for (key, counts) in counts {
                family.add(Double(counts[keyPath: path]), [("spool", key.spool), ("priority", "\(key.priority.level)")])
            }
            families.append(family)
        }
        var dropped = MetricFamily(
            name: "ferry_dropped_segments", kind: .counter, help: "Segments that a limit deleted, by reason.")
        for snapshot in snapshots {
            for spool in snapshot.spools {
                for reason in ["expired", "evicted"] {
                    dropped.add(
                        Double(snapshot.counters.dropped[spool.path]?[reason] ?? 0), [("spool", spool.path), ("reason", reason)])
                }
            }
        }
        families.append(dropped)
    }

    private mutating func addState(_ snapshots: [NamedSnapshot]) {
        var latency = MetricFamily(
            name: "ferry_request_duration_seconds", kind: .histogram, help: "How long answered requests took.")
        var breaker = MetricFamily(
            name: "ferry_breaker_state", kind: .gauge, help: "1 for the state that the circuit breaker is in.")
        var blocked = MetricFamily(name: "ferry_blocked", kind: .gauge, help: "1 while nothing is sent from a spool, by reason.")
        var underWay = MetricFamily(name: "ferry_requests_in_flight", kind: .gauge, help: "Requests under way.")
        let hasSeveral = snapshots.contains { $0.name != nil }
        for snapshot in snapshots {
            for spool in snapshot.run.spools {
                if let blocker = spool.blocker { blocked.add(1, [("spool", spool.path), ("reason", blocker.kind)]) }
            }
            // What puts segments into lanes makes no requests.
            if hasSeveral, snapshot.name == nil { continue }
            let labels = snapshot.name.map { [("destination", $0.text)] } ?? []
            let requests = snapshot.run.counters.requests
            for (bound, count) in zip(RunCounters.Latency.bounds, requests.buckets) {
                latency.add(Double(count), labels + [("le", MetricFamily.number(bound))], suffix: "_bucket")
            }
            latency.add(Double(requests.count), labels + [("le", "+Inf")], suffix: "_bucket")
            latency.add(requests.seconds, labels, suffix: "_sum")
            latency.add(Double(requests.count), labels, suffix: "_count")
            for state in BreakerState.allCases {
                breaker.add(state == snapshot.run.breaker ? 1 : 0, labels + [("state", state.rawValue)])
            }
            underWay.add(Double(snapshot.run.requestsUnderWay), labels)
        }
        var build = MetricFamily(name: "ferry_build_info", kind: .gauge, help: "1, with the version.")
        build.add(1, [("version", FerryVersion.current)])
        families += [latency, breaker, blocked, underWay, build]
    }
}
