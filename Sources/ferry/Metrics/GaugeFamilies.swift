import FerrySpool

/// The gauges of spools as metrics.
struct GaugeFamilies {
    private var lastDelivery = MetricFamily(
        name: "ferry_last_delivery_timestamp_seconds", kind: .gauge, help: "When a segment was delivered last; 0: never.")
    private var rejected = Self.rejected
    private var travelling = MetricFamily(
        name: "ferry_travelling_segments", kind: .gauge, help: "Pending segments that travel by hand.")
    private var travellingSince = MetricFamily(
        name: "ferry_travelling_since_timestamp_seconds", kind: .gauge,
        help: "When the oldest bundle was made whose receipt has not come; 0: none travels.")
    private var silent = Self.silent
    private var diskFree = Self.diskFree
    private var diskSize = Self.diskSize

    static var available: MetricFamily {
        MetricFamily(
            name: "ferry_spool_available", kind: .gauge,
            help: "1 while a spool's folder is there and can be used; 0: what is pending in it, nothing can tell.")
    }

    static var rejected: MetricFamily {
        MetricFamily(name: "ferry_segments_in_rejected", kind: .gauge, help: "Segments that lie in rejected/ now.")
    }

    static var silent: MetricFamily {
        MetricFamily(name: "ferry_silent", kind: .gauge, help: "1 while nothing new has come for longer than usual.")
    }

    static var diskFree: MetricFamily {
        MetricFamily(name: "ferry_disk_free_bytes", kind: .gauge, help: "Bytes that are free on the spool's file system.")
    }

    static var diskSize: MetricFamily {
        MetricFamily(name: "ferry_disk_size_bytes", kind: .gauge, help: "Size of the spool's file system.")
    }

    mutating func add(_ gauges: SpoolGauges, of path: String) {
        let labels = [("spool", path)]
        lastDelivery.add(gauges.lastDelivery?.inUnixSeconds ?? 0, labels)
        rejected.add(Double(gauges.rejected), labels)
        travelling.add(Double(gauges.travelling), labels)
        travellingSince.add(gauges.travellingSince?.inUnixSeconds ?? 0, labels)
        silent.add(gauges.isSilent ? 1 : 0, labels)
        guard let disk = gauges.disk else { return }
        diskFree.add(Double(disk.free.bytes), labels)
        diskSize.add(Double(disk.size.bytes), labels)
    }

    var all: [MetricFamily] { [lastDelivery, rejected, travelling, travellingSince, silent, diskFree, diskSize] }
}

extension Timestamp {
    /// As Prometheus counts time.
    var inUnixSeconds: Double { Double(milliseconds) / 1000 }
}
